import { nameOf } from '../input/pieces';
import { addId } from '../view/show';

export interface Near {
  id: number;
  value: number;
}

/** Ids by nearness. Each is a button that adds it to what is typed. */
export const NearList = ({ near, label }: { near: Near[]; label: string }) => (
  <ol class="near" aria-label={label}>
    {near.map(({ id, value }) => (
      <li key={id}>
        <button class="near-item" onClick={() => addId(id)} title={`Add id ${id} to the ids above`}>
          <span class="near-name">{nameOf(id)}</span>
          <span class="near-bar" style={{ width: `${Math.max(0, value) * 100}%` }} aria-hidden="true" />
          <span class="dims">{value.toFixed(3)}</span>
        </button>
      </li>
    ))}
  </ol>
);

export function toNear({ indices, values }: { indices: Int32Array; values: Float32Array }): Near[] {
  return Array.from(indices, (id, i) => ({ id, value: values[i]! }));
}
