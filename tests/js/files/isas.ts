import { EmbeddingError, EmbeddingTable } from 'id2vec';
import type { Isa } from 'id2vec';

/** The instruction sets that this build carries and this engine can run, the reference first. */
export const isas: Isa[] = [];
for (const isa of ['scalar', 'simd128', 'relaxed'] as const) if (await runs(isa)) isas.push(isa);

async function runs(isa: Isa): Promise<boolean> {
  try {
    (await EmbeddingTable.create(new Float32Array(4), { dtype: 'F32', dim: 4, isa })).dispose();
    return true;
  } catch (error) {
    if (error instanceof EmbeddingError && error.code === 'unsupported') return false;
    throw error;
  }
}
