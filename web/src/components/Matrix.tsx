import { useEffect, useMemo, useRef, useState } from 'preact/hooks';

import { colourLimit, paintRow } from '../charts/heatmap';
import { matrix, pieceOf, selectedRow } from '../state';

/** X = E[ids] as a heat map: a row per position, its id and piece beside it. A click chooses the row. */
export function MatrixView() {
  const shown = matrix.value;
  const [pointed, setPointed] = useState('');
  const limit = useMemo(() => (shown ? colourLimit(shown.data) : 1), [shown]);
  if (!shown) return null;
  if (shown.ids.length === 0) return <p class="hint">Type an id and its vector appears here.</p>;
  return (
    <section class="card" aria-labelledby="matrix-title">
      <header class="card-head">
        <h2 id="matrix-title">
          X = E[ids]
          <span class="dims">
            [{shown.ids.length}, {shown.dim}]
          </span>
        </h2>
        <output class="pointed">{pointed}</output>
      </header>
      <ol class="matrix" onPointerLeave={() => setPointed('')}>
        {shown.ids.map((id, position) => (
          <Row
            key={position}
            id={id}
            position={position}
            row={shown.data.subarray(position * shown.dim, (position + 1) * shown.dim)}
            limit={limit}
            onPoint={setPointed}
          />
        ))}
      </ol>
      <Legend limit={limit} />
    </section>
  );
}

interface RowProps {
  id: number;
  position: number;
  row: Float32Array;
  limit: number;
  onPoint: (text: string) => void;
}

function Row({ id, position, row, limit, onPoint }: RowProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    if (canvas.current) paintRow(canvas.current, row, limit);
  }, [row, limit]);
  const piece = pieceOf(id);
  const point = (event: PointerEvent) => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    const column = Math.floor(((event.clientX - box.left) / box.width) * row.length);
    const value = row[column];
    if (value !== undefined) onPoint(`row ${position}, dimension ${column}: ${value.toPrecision(4)}`);
  };
  return (
    <li>
      <button
        class="row"
        aria-pressed={selectedRow.value === position}
        aria-label={`position ${position}, id ${id}${piece === undefined ? '' : `, ${piece}`}`}
        onClick={() => (selectedRow.value = position)}
      >
        <span class="row-id">{id}</span>
        <span class="row-piece">{piece ?? ''}</span>
        <canvas ref={canvas} class="row-cells" onPointerMove={point} />
      </button>
    </li>
  );
}

const Legend = ({ limit }: { limit: number }) => (
  <p class="legend">
    <span>−{limit.toPrecision(2)}</span>
    <span class="legend-bar" aria-hidden="true" />
    <span>+{limit.toPrecision(2)}</span>
  </p>
);
