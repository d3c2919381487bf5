// Ids and the pieces of text behind them, from the tokenizer or the model file's own vocabulary.
import { model, tokenizer } from '../state';

/** SentencePiece, byte-level BPE: how a piece that begins a word is marked. */
const kWordMarks = ['▁', 'Ġ'];

export const hasPieces = () => tokenizer.value !== undefined || model.value?.tokens !== undefined;

export function pieceOf(id: number): string | undefined {
  const tokens = model.value?.tokens;
  const own = tokens && id < tokens.length ? tokens.at(id) : undefined;
  return own ?? tokenizer.value?.pieceOf(id);
}

/** The id of a word as people type it: as a piece that begins a word, or as it stands. */
export function idOfWord(word: string): number | undefined {
  for (const piece of [...kWordMarks.map((mark) => mark + word), word]) {
    const id = model.value?.tokens?.idOf(piece) ?? tokenizer.value?.idOf(piece);
    if (id !== undefined) return id;
  }
  return undefined;
}

/** An id, or a word of the vocabulary. */
export const idOf = (word: string) => (isNumber(word) ? Number(word) : idOfWord(word));

const isNumber = (word: string) => /^-?\d+(\.\d+)?$/.test(word);

/** How an id is called on the page. */
export const nameOf = (id: number) => pieceOf(id) ?? String(id);

/** The same for small places: without the mark of a word's beginning. */
export function labelOf(id: number): string {
  const name = nameOf(id);
  const mark = kWordMarks.find((mark) => name.startsWith(mark) && name.length > mark.length);
  return mark ? name.slice(mark.length) : name;
}

/** The text that ids stand for. */
export function textOf(ids: readonly number[]): string {
  if (tokenizer.value) return tokenizer.value.decode([...ids]);
  const pieces = ids.map(nameOf);
  const marked = pieces.some((piece) => kWordMarks.some((mark) => piece.startsWith(mark)));
  const text = pieces.join(marked ? '' : ' ');
  return kWordMarks.reduce((result, mark) => result.replaceAll(mark, ' '), text).trim();
}
