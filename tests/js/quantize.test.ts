// Encoders as users run them: compiled to WebAssembly with all optimizations, where a compiler's mistake would show that
// the native tests, built for the debugger, cannot see.
import { describe, expect, test } from 'vitest';

import { EmbeddingTable } from 'id2vec';
import { corpusFile, hasCorpus } from './corpus.js';

const kCols = 512;
const types = ['F16', 'BF16', 'Q8_0', 'Q4_0', 'Q4_1', 'Q5_0', 'Q5_1', 'Q4_K', 'Q6_K', 'IQ4_NL'];

function floatTable(values: Float32Array, dim: number) {
  return EmbeddingTable.create(values, { dtype: 'F32', dim });
}

describe('an extreme weight keeps its place and sign', () => {
  // One large weight of either sign at every place of a block; 8-bit steps of 1 / 127 bound the error of the others.
  test.each(types.filter((type) => !type.endsWith('_K')))('%s', async (type) => {
    for (const sign of [-1, 1]) {
      const rows = Array.from({ length: 32 }, (_, place) =>
        Array.from({ length: 32 }, (_, i) => (i === place ? sign : 0.01 * ((i % 7) - 3))),
      );
      using table = await floatTable(Float32Array.from(rows.flat()), 32);
      using quantized = await table.quantize(type);
      const { data } = quantized.lookup(rows.map((_, i) => i));
      rows.forEach((row, place) => {
        const decoded = data[place * 32 + place]!;
        expect(Math.abs(decoded - row[place]!), `${type}, ${sign} at ${place}`).toBeLessThan(0.13);
      });
    }
  });
});

describe.skipIf(!hasCorpus)("ggml's own bytes", () => {
  test.each(types)('%s', async (type) => {
    const source = await corpusFile('golden/source.f32');
    const expected = await corpusFile(`golden/${type.toLowerCase()}.f32`);
    using table = await floatTable(new Float32Array(source.buffer), kCols);
    using quantized = await table.quantize(type);
    const { data } = quantized.lookup([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(new Uint32Array(data.buffer)).toEqual(new Uint32Array(expected.buffer));
  });
});
