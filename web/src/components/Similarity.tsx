import { useEffect, useState } from 'preact/hooks';

import { colour, css, dark, inkOn } from '../charts/colours';
import { labelOf, nameOf } from '../input/pieces';
import { matrix, model, type Matrix } from '../state';
import { Card } from './Card';
import { Legend } from './Legend';

/** More cells than this are no picture on a phone, and a burden as a table. */
const kMost = 32;

interface Similar {
  ids: number[];
  /** [N, N] */
  data: Float32Array;
}

/** How the vectors of the sequence stand to each other: their cosines. */
export function Similarity() {
  const active = model.value;
  const shown = matrix.value;
  const similar = useSimilarity(shown);
  if (!active || !shown || shown.ids.length < 2) return null;
  return (
    <Card id="similarity" title="Who is like whom" note="cosine">
      {shown.ids.length > kMost && <p class="hint">Of the first {kMost} vectors.</p>}
      {similar && <Cells {...similar} />}
      <Legend limit={1} what="cosine" />
    </Card>
  );
}

function useSimilarity(shown: Matrix | undefined): Similar | undefined {
  const active = model.value;
  const [similar, setSimilar] = useState<Similar>();
  useEffect(() => {
    let stale = false;
    if (!active || !shown || shown.ids.length < 2) return setSimilar(undefined);
    const ids = shown.ids.slice(0, kMost);
    const data = shown.data.slice(0, ids.length * shown.width);
    active.similarity({ data, dims: [ids.length, shown.width] }).then(
      ({ data }) => !stale && setSimilar({ ids, data }),
      () => !stale && setSimilar(undefined),
    );
    return () => {
      stale = true;
    };
  }, [active, shown]);
  return similar;
}

function Cells({ ids, data }: Similar) {
  const numbers = ids.length <= 10;
  return (
    <table class={`similarity${numbers ? '' : ' many'}`} data-dark={dark.value}>
      <caption class="visually-hidden">Cosine of each pair of vectors</caption>
      <thead class="visually-hidden">
        <tr>
          <td />
          {ids.map((id, column) => (
            <th key={column} scope="col">
              {nameOf(id)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {ids.map((id, row) => (
          <tr key={row}>
            <th scope="row">{labelOf(id)}</th>
            {ids.map((other, column) => (
              <Cell
                key={column}
                value={data[row * ids.length + column]!}
                pair={`${nameOf(id)}, ${nameOf(other)}`}
                numbers={numbers}
              />
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Cell({ value, pair, numbers }: { value: number; pair: string; numbers: boolean }) {
  const fill = colour(value, 1);
  const text = value.toFixed(2).replace('0.', '.');
  return (
    <td title={`${pair}: ${value.toFixed(4)}`} style={{ background: css(fill), color: inkOn(fill) }}>
      {numbers ? text : <span class="visually-hidden">{text}</span>}
    </td>
  );
}
