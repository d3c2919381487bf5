// What the page knows, as signals; components read them and actions.ts changes them.
import { computed, signal } from '@preact/signals';
import type { EmbeddingModel } from 'id2vec';

export interface Loading {
  title: string;
  loaded: number;
  total: number;
  phase: string;
  cancel: () => void;
}

export interface Matrix {
  ids: number[];
  /** [N, d], row-major. */
  data: Float32Array;
  dim: number;
}

export const model = signal<EmbeddingModel | undefined>(undefined);
export const modelTitle = signal('');
export const loading = signal<Loading | undefined>(undefined);
export const problem = signal('');
export const idText = signal('');
export const matrix = signal<Matrix | undefined>(undefined);
export const selectedRow = signal(0);

/** The piece of text behind an id, where the model file carries its vocabulary. */
export function pieceOf(id: number): string | undefined {
  const tokens = model.value?.tokens;
  return tokens && id < tokens.length ? tokens.at(id) : undefined;
}

/** The id of a word as people type it: as a piece that begins a word, or as it stands. */
export function idOf(word: string): number | undefined {
  const tokens = model.value?.tokens;
  return tokens?.idOf('▁' + word) ?? tokens?.idOf(word);
}

/** Ids as typed: numbers apart by anything that is no digit. A word that the vocabulary knows counts as its id. */
export const parsedIds = computed<{ ids: number[]; unknown: string[] }>(() => {
  const ids: number[] = [];
  const unknown: string[] = [];
  for (const word of idText.value.split(/[\s,;[\]]+/)) {
    if (word === '') continue;
    const piece = idOf(word);
    if (/^-?\d+(\.\d+)?$/.test(word)) ids.push(Number(word));
    else if (piece !== undefined) ids.push(piece);
    else unknown.push(word);
  }
  return { ids, unknown };
});
