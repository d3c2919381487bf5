/**
 * Tables for benchmarks, of any format and without a quantizer: blocks of random bytes, drawn again until their
 * weights look like those of a model (finite, none huge, not all tiny), and repeated all over the table.
 */
import { EmbeddingTable } from '../../../dist/index.js';

const kDifferentBlocks = 64;

/** xorshift32: the same bytes in every run. */
export function randomBytes(seed) {
  let state = seed;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 24;
  };
}

export function randomFloats(count, seed) {
  const next = randomBytes(seed);
  // Four bytes added up: near enough to a normal distribution.
  return Float32Array.from({ length: count }, () => (next() + next() + next() + next() - 510) / 148);
}

export function randomIds(count, rows) {
  const next = randomBytes(7);
  return Uint32Array.from({ length: count }, () => ((next() << 16) | (next() << 8) | next()) % rows);
}

/** Finite, none huge, and spread like weights: around no offset that dwarfs them, and not all tiny. */
function looksLikeWeights(values) {
  const greatest = values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  const mean = values.length === 1 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
  return greatest < 0.5 && Math.sqrt(variance) > 0.004 + greatest / 20;
}

/** Bytes of `count` blocks one after the other. */
async function weightBlocks(format, count, isa) {
  const next = randomBytes(0x1d2ec);
  const blocks = new Uint8Array(count * format.blockBytes);
  const block = new Uint8Array(format.blockBytes);
  for (let found = 0; found < count;) {
    const tries = Uint8Array.from({ length: 512 * block.length }, next);
    const table = await EmbeddingTable.create(tries, { dtype: format.name, dim: format.blockSize, isa });
    const rows = table.lookup(Array.from({ length: 512 }, (_, id) => id)).data;
    for (let id = 0; id < 512 && found < count; id++) {
      const weights = rows.subarray(id * format.blockSize, (id + 1) * format.blockSize);
      if (!looksLikeWeights(weights)) continue;
      blocks.set(tries.subarray(id * block.length, (id + 1) * block.length), found++ * block.length);
    }
    table.dispose();
  }
  return blocks;
}

/** Bytes of `rows` × `cols` weights. Rows differ: the blocks do not repeat in step with them. */
export async function modelLikeBytes(format, rows, cols, isa) {
  const blocks = await weightBlocks(format, kDifferentBlocks + 1, isa);
  const bytes = new Uint8Array((rows * cols * format.blockBytes) / format.blockSize);
  for (let at = 0; at < bytes.length; at += blocks.length) {
    bytes.set(blocks.subarray(0, Math.min(blocks.length, bytes.length - at)), at);
  }
  return bytes;
}

/** A table of those bytes. */
export async function modelLikeTable(format, rows, cols, isa) {
  const bytes = await modelLikeBytes(format, rows, cols, isa);
  return EmbeddingTable.create(bytes, { dtype: format.name, dim: cols, isa });
}
