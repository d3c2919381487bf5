import { EmbeddingError, EmbeddingTable } from 'id2vec';
import type { Isa } from 'id2vec';

/** The instruction sets that this engine can run, the reference included. */
export const isas: Isa[] = ['scalar', 'simd128', ...((await hasRelaxed()) ? (['relaxed'] as const) : [])];

async function hasRelaxed(): Promise<boolean> {
  try {
    (await EmbeddingTable.create(new Float32Array(4), { dtype: 'F32', dim: 4, isa: 'relaxed' })).dispose();
    return true;
  } catch (error) {
    if (error instanceof EmbeddingError && error.code === 'unsupported') return false;
    throw error;
  }
}
