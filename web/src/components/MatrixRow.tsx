import { useEffect, useRef, useState } from 'preact/hooks';

import { dark } from '../charts/colours';
import { paintRow } from '../charts/heatmap';
import { pieceOf } from '../input/pieces';
import { selectedRow } from '../state';

interface MatrixRowProps {
  id: number;
  position: number;
  row: Float32Array;
  limit: number;
  /** Says which number is pointed at. */
  onPoint: (text: string) => void;
  /** Chooses another row, if there is one. */
  onMove: (position: number) => void;
}

/** One vector. Left and right read its numbers one by one, as pointing does. */
export function MatrixRow({ id, position, row, limit, onPoint, onMove }: MatrixRowProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const [column, setColumn] = useState<number>();
  const isDark = dark.value;
  const selected = selectedRow.value === position;
  useEffect(() => {
    if (canvas.current) paintRow(canvas.current, row, limit);
  }, [row, limit, isDark]);
  useEffect(() => {
    // The focus follows the choice, where it is on a neighbour.
    if (selected && document.activeElement?.closest('.matrix')) button.current?.focus();
  }, [selected]);

  const point = (at: number) => {
    const value = row[at];
    if (value === undefined) return;
    setColumn(at);
    onPoint(`row ${position}, dimension ${at}: ${value.toPrecision(4)}`);
  };
  const hover = (event: PointerEvent) => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    point(Math.floor(((event.clientX - box.left) / box.width) * row.length));
  };
  const press = (event: KeyboardEvent) => {
    const last = row.length - 1;
    const keys: Record<string, () => void> = {
      ArrowUp: () => onMove(position - 1),
      ArrowDown: () => onMove(position + 1),
      ArrowLeft: () => point(Math.max(0, (column ?? 1) - 1)),
      ArrowRight: () => point(Math.min(last, (column ?? -1) + 1)),
      Home: () => point(0),
      End: () => point(last),
    };
    const act = keys[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  };
  const piece = pieceOf(id);
  return (
    <li>
      <button
        ref={button}
        class="row"
        tabIndex={selected ? 0 : -1}
        aria-pressed={selected}
        aria-label={`position ${position}, id ${id}${piece === undefined ? '' : `, ${piece}`}`}
        onClick={() => (selectedRow.value = position)}
        onKeyDown={press}
      >
        <span class="row-id">{id}</span>
        <span class="row-piece">{piece ?? ''}</span>
        <span class="row-cells">
          <canvas ref={canvas} onPointerMove={hover} />
          {selected && column !== undefined && (
            <span class="row-cursor" style={{ left: `${((column + 0.5) / row.length) * 100}%` }} />
          )}
        </span>
      </button>
    </li>
  );
}
