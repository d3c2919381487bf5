import * as Plot from '@observablehq/plot';
import type { Plane } from 'id2vec';
import { useCallback, useEffect, useState } from 'preact/hooks';

import { Chart } from '../charts/Chart';
import { placeLabels } from '../charts/labels';
import { labelOf } from '../input/pieces';
import { matrix, model, selectedRow } from '../state';
import { Card } from './Card';

/** With more names than this none can be read. */
const kMostNames = 48;

interface Point {
  x: number;
  y: number;
  name: string;
  position: number;
}

/** The vectors in the plane in which they differ most (PCA). */
export function PlaneView() {
  const active = model.value;
  const shown = matrix.value;
  const [plane, setPlane] = useState<{ points: Point[]; explained: Plane['explained'] }>();
  useEffect(() => {
    let stale = false;
    if (!active || !shown || shown.ids.length < 3) return setPlane(undefined);
    active.plane({ data: shown.data, dims: [shown.ids.length, shown.width] }).then(
      ({ data, explained }) => !stale && setPlane({ points: toPoints(shown.ids, data), explained }),
      () => !stale && setPlane(undefined),
    );
    return () => {
      stale = true;
    };
  }, [active, shown]);
  if (!plane) return null;
  const [first, second] = plane.explained.map((share) => `${Math.round(share * 100)}\u00a0%`);
  return (
    <Card id="plane" title="On a plane" note="PCA">
      <p class="hint">
        Of all that tells these vectors apart, left to right shows {first} and bottom to top {second}.
      </p>
      <Scatter points={plane.points} />
    </Card>
  );
}

const toPoints = (ids: number[], data: Float32Array): Point[] =>
  ids.map((id, i) => ({ x: data[2 * i]!, y: data[2 * i + 1]!, name: labelOf(id), position: i }));

function Scatter({ points }: { points: Point[] }) {
  const selected = selectedRow.value;
  const draw = useCallback((width: number) => drawPoints(points, selected, width), [points, selected]);
  const label = points.map(({ name, x, y }) => `${name}: ${x.toFixed(3)}, ${y.toFixed(3)}`).join('; ');
  return <Chart draw={draw} label={label} />;
}

function drawPoints(points: Point[], selected: number, width: number): Element {
  const height = Math.min(380, width);
  const domains = equalScales(points, { width, height, inset: 32 });
  const scale =
    ([from, to]: [number, number], length: number) =>
    (value: number) =>
      (length * (value - from)) / (to - from);
  const [x, y] = [scale(domains.x, width), scale(domains.y, height)];
  const labels = placeLabels(
    points.slice(0, kMostNames).map((point) => ({ x: x(point.x), y: height - y(point.y), text: point.name })),
    width,
  );
  return Plot.plot({
    width,
    height,
    margin: 0,
    style: { background: 'transparent', fontSize: '13px' },
    x: { axis: null, domain: domains.x },
    y: { axis: null, domain: domains.y },
    marks: [
      Plot.ruleX([0], { stroke: 'var(--line)' }),
      Plot.ruleY([0], { stroke: 'var(--line)' }),
      Plot.dot(points, {
        x: 'x',
        y: 'y',
        r: 5,
        fill: (point: Point) => (point.position === selected ? 'var(--accent)' : 'var(--positive)'),
      }),
      points.slice(0, kMostNames).map((point, i) => {
        const { dx, dy, anchor } = labels[i]!;
        const ink = { fill: 'currentColor', stroke: 'var(--card)', strokeWidth: 4 };
        return Plot.text([point], { x: 'x', y: 'y', text: 'name', dx, dy, textAnchor: anchor, ...ink });
      }),
    ],
  });
}

/** A unit is as long to the right as it is upwards, so that distances can be believed. */
function equalScales(
  points: Point[],
  { width, height, inset }: { width: number; height: number; inset: number },
): { x: [number, number]; y: [number, number] } {
  const extent = (values: number[]) => [Math.min(...values), Math.max(...values)] as const;
  const [left, right] = extent(points.map(({ x }) => x));
  const [bottom, top] = extent(points.map(({ y }) => y));
  const [across, up] = [width - 2 * inset, height - 2 * inset];
  const unitsPerPixel = Math.max((right - left) / across, (top - bottom) / up) || 1;
  const around = (middle: number, pixels: number): [number, number] => [
    middle - (pixels / 2) * unitsPerPixel,
    middle + (pixels / 2) * unitsPerPixel,
  ];
  return { x: around((left + right) / 2, width), y: around((bottom + top) / 2, height) };
}
