// What is typed, as ids.
import { computed } from '@preact/signals';

import { mode, tokenizer, typed } from '../state';
import { idOf, idOfWord } from './pieces';

export interface Parsed {
  ids: number[];
  /** Words that are neither ids nor pieces. */
  unknown: string[];
}

export const parsed = computed<Parsed>(() => {
  if (mode.value === 'ids') return each(typed.value.split(/[\s,;[\]]+/), idOf);
  if (tokenizer.value) return { ids: tokenizer.value.encode(typed.value), unknown: [] };
  return each(typed.value.split(/\s+|(?=[.,;:!?])/), idOfWord);
});

function each(words: string[], find: (word: string) => number | undefined): Parsed {
  const ids: number[] = [];
  const unknown: string[] = [];
  for (const word of words.filter((word) => word !== '')) {
    const id = find(word);
    if (id === undefined) unknown.push(word);
    else ids.push(id);
  }
  return { ids, unknown };
}
