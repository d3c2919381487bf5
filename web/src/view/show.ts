// From what is typed to the matrix that is shown.
import { matrix, mode, model, problem, selectedRow, typed } from '../state';
import { sentence } from '../format';
import { parsed } from '../input/parse';
import { textOf } from '../input/pieces';
import { compare, isShuffled, outcome, randomCycle, shuffled } from './shuffle';
import { vectorsOf } from './stage';

let latest = 0;

/** Shows the vectors of what is typed; a wrong id becomes a sentence and the old picture stays. */
export async function showIds(): Promise<void> {
  const active = model.value;
  if (!active) return;
  const turn = ++latest;
  const { ids, unknown } = parsed.value;
  if (unknown.length > 0) {
    problem.value = unknownSentence(unknown);
    return;
  }
  try {
    const data = await vectorsOf(active, ids);
    const shown = { ids, data, width: ids.length > 0 ? data.length / ids.length : active.dim };
    const moved = shuffled.value && isShuffled(shuffled.value, ids) ? shuffled.value : undefined;
    const before = moved && (await vectorsOf(active, moved.before));
    if (turn !== latest || active !== model.value) return;
    problem.value = '';
    matrix.value = shown;
    shuffled.value = moved;
    outcome.value = moved && before && compare(before, shown, moved.order);
    selectedRow.value = Math.min(selectedRow.value, Math.max(0, ids.length - 1));
  } catch (error) {
    if (turn === latest) problem.value = sentence(error);
  }
}

function unknownSentence(unknown: string[]): string {
  const words = unknown.map((word) => `“${word}”`).join(', ');
  return mode.value === 'ids'
    ? `${words}: neither an id nor a piece of this vocabulary.`
    : `${words}: no piece of this vocabulary. A tokenizer.json dropped here would take words apart.`;
}

/** The same ids in an order in which none stays where it is. */
export function shuffleIds(): void {
  const { ids } = parsed.value;
  const order = randomCycle(ids.length);
  shuffled.value = { before: ids, order };
  setIds(order.map((from) => ids[from]!));
}

export const addId = (id: number) => setIds([...parsed.value.ids, id]);

function setIds(ids: readonly number[]): void {
  mode.value = 'ids';
  typed.value = ids.join(' ');
  void showIds();
}

/** Ids become the text they stand for, and back. */
export function changeMode(next: 'text' | 'ids'): void {
  if (next === mode.value) return;
  const { ids, unknown } = parsed.value;
  if (unknown.length === 0) typed.value = next === 'ids' ? ids.join(' ') : textOf(ids);
  mode.value = next;
  void showIds();
}
