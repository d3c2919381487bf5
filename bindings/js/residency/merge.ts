import type { TopK } from '../types.js';

/** The best k of one shard for N vectors. Indices are ids of the whole table; −1 where fewer than k competed. */
export interface ShardTop {
  values: Float32Array;
  indices: Int32Array;
  /** How many there are per vector. */
  k: number;
}

/**
 * The best k of all shards. Each shard's list is sorted, so the next best is always at the front of one of them;
 * shards come in the order of their rows, so the first of equal fronts has the lower id.
 */
export function mergeTop(shards: readonly ShardTop[], count: number, k: number, dims: number[]): TopK {
  const values = new Float32Array(count * k).fill(-Infinity);
  const indices = new Int32Array(count * k).fill(-1);
  for (let n = 0; n < count; n++) {
    const fronts = shards.map((shard) => n * shard.k);
    for (let i = 0; i < k; i++) {
      const best = bestFront(shards, fronts, n);
      if (best < 0) break;
      const front = fronts[best]!++;
      values[n * k + i] = shards[best]!.values[front]!;
      indices[n * k + i] = shards[best]!.indices[front]!;
    }
  }
  return { values, indices, dims: [...dims, k] };
}

/** Which shard has the best at its front; −1 where all are used up. */
function bestFront(shards: readonly ShardTop[], fronts: readonly number[], n: number): number {
  let best = -1;
  shards.forEach(({ values, indices, k }, shard) => {
    const front = fronts[shard]!;
    if (front >= (n + 1) * k || indices[front]! < 0) return;
    if (best < 0 || values[front]! > shards[best]!.values[fronts[best]!]!) best = shard;
  });
  return best;
}
