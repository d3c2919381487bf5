// Whatever a model can do with its rows in memory, it can do, to the bit, with its rows elsewhere; or it says what to do.
import { EmbeddingModel } from 'id2vec';
import type { LoadOptions, PoolOptions } from 'id2vec';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { randomNumbers, randomTable } from './files/formats.js';
import { gguf } from './files/gguf.js';
import { safetensors } from './files/safetensors.js';

const [rows, dim] = [203, 64];
const table = randomTable('Q8_0', rows, dim, 1);
const model = gguf([{ name: 'token_embd.weight', dtype: 'Q8_0', shape: [rows, dim], data: table }]);

// A static embedding: 300 ids share 203 rows, each id with a weight of its own.
const random = randomNumbers(5);
const floats = (count: number) => new Uint8Array(Float32Array.from({ length: count }, random).buffer);
const rowOf = Int32Array.from({ length: 300 }, (_, id) => (id * 7) % rows);
const mapped = safetensors([
  { name: 'embeddings', dtype: 'F32', shape: [rows, dim], data: floats(rows * dim) },
  { name: 'weights', dtype: 'F32', shape: [300], data: floats(300) },
  { name: 'mapping', dtype: 'I32', shape: [300], data: new Uint8Array(rowOf.buffer) },
]);

const elsewhere: [string, LoadOptions][] = [
  ['remote', { residency: 'remote', remote: { whole: 'load' } }],
  ['workers', { residency: 'workers', workers: 3 }],
];

const ids = [202, 0, 5, 101, 102, 68, 67, 5];
const batch = [
  [1, 200, 3],
  [4, 4, 150],
];
const pools: [string, number[] | number[][], PoolOptions][] = [
  ['one bag', ids, {}],
  ['a batch', batch, { mode: 'sum', normalize: true }],
  ['bags of a list, one of them empty', ids, { offsets: [0, 3, 3], mode: 'max' }],
  ['padding and a mask', batch, { paddingId: 4, attentionMask: [1, 1, 0, 1, 1, 1] }],
  ['weights and fewer columns', ids, { weights: [1, 2, 0.5, 0, 3, 1, 1, 1], dimensions: 17 }],
  ['nothing', [], {}],
];

describe.each(elsewhere)('%s', (_, options) => {
  describe.each([
    ['a model', model, rows],
    ['a static embedding', mapped, 300],
  ])('%s', (_, file, idCount) => {
    let here: EmbeddingModel;
    let there: EmbeddingModel;
    beforeAll(async () => {
      here = await EmbeddingModel.load(file);
      there = await EmbeddingModel.load(file, options);
    });
    afterAll(() => {
      here.dispose();
      there.dispose();
    });

    it.each(pools)('pools %s', async (_, ids, options) => {
      expect(await there.pool(ids, options)).toEqual(await here.pool(ids, options));
    });

    it('pools with weights by frequency', async () => {
      for (const each of [here, there]) await each.weighByFrequency(1e-3);
      expect(await there.pool(ids)).toEqual(await here.pool(ids));
      const counts = Array.from({ length: idCount }, (_, id) => 1 + (id % 9));
      for (const each of [here, there]) await each.weighByFrequency(1e-3, counts);
      expect(await there.pool(batch)).toEqual(await here.pool(batch));
    });

    it('refuses the same bags', async () => {
      await expect(there.pool([idCount])).rejects.toThrow(RangeError);
      await expect(there.pool(ids, { offsets: [0, 9] })).rejects.toThrow(RangeError);
      await expect(there.pool(ids, { weights: [1] })).rejects.toThrow(TypeError);
      await expect(there.pool(ids, { dimensions: dim + 1 })).rejects.toThrow(TypeError);
      await expect(there.pool(ids, { mode: 'max', weights: ids })).rejects.toThrow(TypeError);
    });

    it('compares and lays out rows', async () => {
      for (const metric of ['cosine', 'dot', 'euclidean'] as const) {
        expect(await there.similarity(ids, metric)).toEqual(await here.similarity(ids, metric));
      }
      expect(await there.plane(ids)).toEqual(await here.plane(ids));
    });

    it('finds the same neighbours', async () => {
      const vector = Float32Array.from({ length: dim }, random);
      for (const metric of ['cosine', 'dot', 'euclidean'] as const) {
        expect(await there.nearest(68, 10, { metric })).toEqual(await here.nearest(68, 10, { metric }));
        const exclude = [0, 1, 2, 3, 202, 202];
        for (const limit of [7, 100, rows]) {
          const all = { metric, exclude, limit };
          const k = limit - exclude.filter((id, i) => id < limit && exclude.indexOf(id) === i).length;
          expect(await there.nearest(vector, k, all)).toEqual(await here.nearest(vector, k, all));
        }
      }
      await expect(there.nearest(rows, 1)).rejects.toThrow(RangeError);
      await expect(there.nearest(0, rows)).rejects.toThrow(RangeError);
      await expect(there.nearest(new Float32Array(dim + 1), 1)).rejects.toThrow(TypeError);
      await expect(there.nearest(new Float32Array(2 * dim), 1)).rejects.toThrow(TypeError);
    });

    it('completes the same analogies', async () => {
      for (const [positive, negative] of [[[3, 202], [77]] as const, [[5], []] as const]) {
        const words = { positive: [...positive], negative: [...negative] };
        expect(await there.analogy(words, 5)).toEqual(await here.analogy(words, 5));
      }
      await expect(there.analogy({ positive: [], negative: [1] }, 1)).rejects.toThrow(TypeError);
    });
  });
});

describe('remote, without leave to load the whole table', () => {
  it('says for whole-table calls what to do, and does the others', async () => {
    using remote = await EmbeddingModel.load(model, { residency: 'remote' });
    const hidden = new Float32Array(dim);
    const refusal = {
      code: 'remote',
      message: expect.stringMatching(/needs all 203 rows .*whole: "load"/) as string,
    };
    for (const call of [
      remote.nearest(1, 3),
      remote.analogy({ positive: [1], negative: [] }, 3),
      remote.topK(hidden, 1),
      remote.logits(hidden),
    ]) {
      await expect(call).rejects.toMatchObject(refusal);
    }
    expect((await remote.pool(ids)).dims).toEqual([1, dim]);
    expect((await remote.similarity([1, 2])).dims).toEqual([2, 2]);
    expect(() => remote.trainer()).toThrow(/residency "memory"/);
    await expect(remote.save()).rejects.toThrow(/residency "memory"/);
  });
});
