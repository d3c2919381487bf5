// The ids in another order, and what became of their vectors.
import { signal } from '@preact/signals';

import type { Matrix } from '../state';

/** Ids as they were, and where each of the new order was before. */
interface Shuffled {
  before: number[];
  order: number[];
}

export interface Outcome {
  /** Vectors that are the same as before, bit for bit, in another place. */
  same: number;
  of: number;
}

export const shuffled = signal<Shuffled | undefined>(undefined);
export const outcome = signal<Outcome | undefined>(undefined);

/** A random order in which nothing stays where it is: one cycle (Sattolo). */
export function randomCycle(length: number): number[] {
  const order = Array.from({ length }, (_, i) => i);
  for (let i = length - 1; i > 0; --i) {
    const j = Math.floor(Math.random() * i);
    [order[i], order[j]] = [order[j]!, order[i]!];
  }
  return order;
}

/** Whether `ids` are those that the last shuffle made. */
export const isShuffled = ({ before, order }: Shuffled, ids: readonly number[]) =>
  ids.length === order.length && order.every((from, i) => before[from] === ids[i]);

export function compare(before: Float32Array, after: Matrix, order: readonly number[]): Outcome {
  const { data, width } = after;
  const same = order.filter((from, to) => {
    for (let i = 0; i < width; ++i) {
      if (before[from * width + i] !== data[to * width + i]) return false;
    }
    return true;
  });
  return { same: same.length, of: order.length };
}
