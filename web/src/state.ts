// What the page knows, as signals; components read them and actions change them.
import { computed, signal } from '@preact/signals';
import type { EmbeddingModel } from 'id2vec';

import type { TextTokenizer } from './input/tokenizer';

export interface Loading {
  title: string;
  loaded: number;
  total: number;
  phase: string;
  cancel: () => void;
}

/** Where the model that is shown came from, so that it can be opened once more. */
export interface Origin {
  source: string | Blob | File[];
  /** It comes with the page. */
  bundled: boolean;
}

export interface Matrix {
  ids: number[];
  /** [N, width], row-major. */
  data: Float32Array;
  width: number;
}

export const model = signal<EmbeddingModel | undefined>(undefined);
export const modelTitle = signal('');
export const origin = signal<Origin | undefined>(undefined);
export const tokenizer = signal<TextTokenizer | undefined>(undefined);
export const loading = signal<Loading | undefined>(undefined);
/** Why a model could not be opened. */
export const loadProblem = signal('');
/** What is wrong with what is typed. */
export const problem = signal('');

export const mode = signal<'text' | 'ids'>('text');
export const typed = signal('');
export const matrix = signal<Matrix | undefined>(undefined);
export const selectedRow = signal(0);

/** The row that is chosen, in the width of the matrix; undefined where there is none. */
export const chosen = computed(() => {
  const shown = matrix.value;
  const row = selectedRow.value;
  if (!shown || row >= shown.ids.length) return undefined;
  const { data, width } = shown;
  return { row, id: shown.ids[row]!, hidden: data.slice(row * width, (row + 1) * width) };
});
