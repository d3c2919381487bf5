import { useMemo, useState } from 'preact/hooks';

import { colourLimit } from '../charts/heatmap';
import { matrix, selectedRow } from '../state';
import { formula, stage } from '../view/stage';
import { Card } from './Card';
import { Legend } from './Legend';
import { MatrixRow } from './MatrixRow';
import { StageControls } from './StageControls';

/** A long text is not drawn to its end. */
export const kMostShown = 200;

/** The vectors as a heat map: a row per position, its id and piece beside it. Click or arrow keys choose the row. */
export function MatrixView() {
  const shown = matrix.value;
  const [pointed, setPointed] = useState('');
  const limit = useMemo(() => (shown ? colourLimit(shown.data) : 1), [shown]);
  if (!shown) return null;
  const { ids, data, width } = shown;
  const move = (position: number) => {
    selectedRow.value = Math.max(0, Math.min(ids.length - 1, kMostShown - 1, position));
  };
  return (
    <Card
      id="matrix"
      title={`X = ${formula.value}`}
      note={`[${ids.length}, ${width}]`}
      aside={<output class="pointed">{pointed}</output>}
    >
      <StageControls />
      {ids.length === 0 && <p class="hint">Type something and its vectors appear here.</p>}
      <ol class="matrix" onPointerLeave={() => setPointed('')}>
        {ids.slice(0, kMostShown).map((id, position) => (
          <MatrixRow
            key={position}
            id={id}
            position={position}
            row={data.subarray(position * width, (position + 1) * width)}
            limit={limit}
            onPoint={setPointed}
            onMove={move}
          />
        ))}
      </ol>
      {ids.length > kMostShown && <p class="hint">Of the first {kMostShown} vectors.</p>}
      {ids.length > 0 && <Legend limit={limit} what={stage.value === 'rows' ? 'weight' : 'value'} />}
    </Card>
  );
}
