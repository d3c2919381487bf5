// Every format against ggml's own rows, in every instruction set: dequantized rows bit for bit, logits and the best
// of them within their bound of a double-precision sum.
import { EmbeddingTable } from 'id2vec';
import type { Isa } from 'id2vec';
import { describe, expect, test } from 'vitest';
import { corpusFile, hasCorpus } from './corpus.js';
import { isas } from './files/isas.js';

const kRows = 8;
const kDim = 512;

/** All types of the golden data. */
const types = (
  'F32 F16 BF16 Q4_0 Q4_1 Q5_0 Q5_1 Q8_0 Q2_K Q3_K Q4_K Q5_K Q6_K IQ4_NL IQ4_XS TQ1_0 TQ2_0 MXFP4 NVFP4 Q1_0 Q2_0 ' +
  'IQ1_S IQ1_M IQ2_XXS IQ2_XS IQ2_S IQ3_XXS IQ3_S'
).split(' ');

const floats = (bytes: Uint8Array<ArrayBuffer>) =>
  new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
const bits = (values: Float32Array) => new Uint32Array(values.buffer, values.byteOffset, values.length);

async function golden(type: string, isa: Isa) {
  const table = await EmbeddingTable.create(await corpusFile(`golden/${type.toLowerCase()}.bin`), {
    dtype: type,
    dim: kDim,
    isa,
  });
  return { table, rows: floats(await corpusFile(`golden/${type.toLowerCase()}.f32`)) };
}

/** ⟨hidden, row⟩ in double precision, and Σ |w·h|. */
function exactDot(row: Float32Array, hidden: Float32Array): { value: number; magnitude: number } {
  let value = 0;
  let magnitude = 0;
  for (let i = 0; i < kDim; i++) {
    const product = row[i]! * hidden[i]!;
    value += product;
    magnitude += Math.abs(product);
  }
  return { value, magnitude };
}

/** Largest |h| times Σ |w|: what rounding activations to 16 (or 8) bits can add up to, divided by 2^16 (or 2^8). */
function rounding(row: Float32Array, hidden: Float32Array): number {
  const largest = hidden.reduce((most, h) => Math.max(most, Math.abs(h)), 0);
  return largest * row.reduce((sum, w) => sum + Math.abs(w), 0);
}

describe.skipIf(!hasCorpus).each(isas)('golden rows, %s', (isa) => {
  test('all types of the golden data are listed', () => {
    expect(new Set(types).size).toBe(28);
  });

  test.each(types)('%s is dequantized bit for bit', async (type) => {
    const { table, rows } = await golden(type, isa);
    expect(table.vocabSize).toBe(kRows);
    expect(table.isa).toBe(isa);
    const ids = [7, 0, 1, 2, 3, 4, 5, 6];
    const { data, dims } = table.lookup(ids);
    expect(dims).toEqual([kRows, kDim]);
    ids.forEach((id, n) => {
      const expected = bits(rows.subarray(id * kDim, (id + 1) * kDim));
      expect(bits(data.subarray(n * kDim, (n + 1) * kDim))).toEqual(expected);
    });
    table.dispose();
  });

  test.each(types)('%s: logits are within their bound', async (type) => {
    const { table, rows } = await golden(type, isa);
    const hidden = floats(await corpusFile('golden/source.f32')).slice(7 * kDim);
    for (const precision of ['high', 'fast'] as const) {
      const { data } = table.logits(hidden, { precision });
      for (let id = 0; id < kRows; id++) {
        const row = rows.subarray(id * kDim, (id + 1) * kDim);
        const { value, magnitude } = exactDot(row, hidden);
        // Sums in floats: lanes of d / 4 products, and quants and offsets that are summed apart; below 2^-126
        // floats have fewer digits (a zero row of MXFP4 has the scale 2^-128).
        const sums = 2 ** -24 * (kDim / 4 + 16) * 16 * magnitude + kDim * 2 ** -130;
        const bound = rounding(row, hidden) / (precision === 'high' ? 65534 : 254) + sums;
        expect(Math.abs(data[id]! - value), `${precision}, row ${id}`).toBeLessThanOrEqual(bound);
      }
    }
    table.dispose();
  });
});
