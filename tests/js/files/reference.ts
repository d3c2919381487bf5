/** What the core should compute, in double precision and in the plainest way. */
import type { Precision } from 'id2vec';

export function dot(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!;
  return sum;
}

/** Ids by falling score; equal scores by rising id. */
export function ranking(scores: readonly number[]): number[] {
  return scores.map((_, id) => id).sort((a, b) => scores[b]! - scores[a]! || a - b);
}

/**
 * How far a dot product may be from the exact one. `high` keeps hidden values at 16 bits per group or in float32,
 * `fast` at 8 bits; half a step of that is lost per weight, and float32 sums lose a little more.
 */
export function dotBound(
  row: readonly number[],
  hidden: ArrayLike<number>,
  precision: Precision = 'high',
): number {
  const weights = row.reduce((sum, weight) => sum + Math.abs(weight), 0);
  const largest = Math.max(...Array.from(hidden, Math.abs));
  const products = row.reduce((sum, weight, i) => sum + Math.abs(weight * hidden[i]!), 0);
  const step = largest / (precision === 'high' ? 2 ** 14 : 2 ** 7);
  return weights * step + products * row.length * 2 ** -24;
}

/** The bits of floats, so that −0 and NaN are compared, too. */
export function bits(values: ArrayLike<number>): number[] {
  return Array.from(new Uint32Array(Float32Array.from(values).buffer));
}
