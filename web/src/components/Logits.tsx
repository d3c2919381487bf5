import * as Plot from '@observablehq/plot';
import { useEffect, useRef, useState } from 'preact/hooks';

import { matrix, model, pieceOf, problem, selectedRow } from '../state';

const TOP = 12;

interface Bar {
  label: string;
  value: number;
  self: boolean;
}

/** The table read backwards: the best logits of h · Eᵀ, where h is the chosen row. */
export function Logits() {
  const shown = matrix.value;
  const active = model.value;
  const row = selectedRow.value;
  const [bars, setBars] = useState<Bar[]>([]);
  useEffect(() => {
    if (!shown || !active || row >= shown.ids.length) return setBars([]);
    let stale = false;
    const hidden = shown.data.slice(row * shown.dim, (row + 1) * shown.dim);
    active
      .topK(hidden, Math.min(TOP, active.vocabSize))
      .then(({ values, indices }) => {
        if (!stale) setBars([...indices].map((id, i) => toBar(id, values[i]!, shown.ids[row]!)));
      })
      .catch((error: Error) => {
        if (!stale) problem.value = error.message;
      });
    return () => (stale = true) as unknown as void;
  }, [shown, active, row]);
  if (!shown || bars.length === 0) return null;
  const id = shown.ids[row]!;
  return (
    <section class="card" aria-labelledby="logits-title">
      <header class="card-head">
        <h2 id="logits-title">
          logits = h · {active?.tied ? 'Eᵀ' : 'Wᵀ'}
          <span class="dims">
            top {bars.length} of {active?.vocabSize.toLocaleString('en')}
          </span>
        </h2>
      </header>
      <p class="hint">
        h is row {row}: id {id} {pieceOf(id) ?? ''}. The same table, read backwards, says which ids it points
        at.
      </p>
      <BarChart bars={bars} />
    </section>
  );
}

function toBar(id: number, value: number, own: number): Bar {
  const piece = pieceOf(id);
  return { label: piece === undefined ? String(id) : `${piece}  ${id}`, value, self: id === own };
}

function BarChart({ bars }: { bars: Bar[] }) {
  const host = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const chart = Plot.plot({
      marginLeft: 150,
      marginRight: 50,
      height: bars.length * 26 + 30,
      width: 640,
      style: { background: 'transparent', fontSize: '13px' },
      x: {
        axis: null,
        domain: [Math.min(0, ...bars.map((bar) => bar.value)), Math.max(...bars.map((bar) => bar.value))],
      },
      y: { label: null, domain: bars.map((bar) => bar.label), tickSize: 0 },
      marks: [
        Plot.barX(bars, {
          x: 'value',
          y: 'label',
          fill: (bar: Bar) => (bar.self ? 'var(--accent)' : 'var(--positive)'),
          insetTop: 3,
          insetBottom: 3,
        }),
        Plot.text(bars, {
          x: 'value',
          y: 'label',
          text: (bar: Bar) => bar.value.toFixed(2),
          textAnchor: 'start',
          dx: 6,
        }),
      ],
    });
    host.current?.replaceChildren(chart);
    return () => chart.remove();
  }, [bars]);
  return (
    <div
      ref={host}
      class="chart"
      role="img"
      aria-label={bars.map((bar) => `${bar.label}: ${bar.value.toFixed(2)}`).join(', ')}
    />
  );
}
