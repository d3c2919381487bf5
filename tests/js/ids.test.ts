// What may be given as ids, and what each mistake is answered with.
import { EmbeddingModel } from 'id2vec';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { safetensors } from './files/safetensors.js';

const rows = 6;
const dim = 4;
const table = Float32Array.from({ length: rows * dim }, (_, i) => i / 8 - 1);

let model: EmbeddingModel;
beforeAll(async () => {
  const data = new Uint8Array(table.buffer);
  model = await EmbeddingModel.load(
    safetensors([{ name: 'wte.weight', dtype: 'F32', shape: [rows, dim], data }]),
  );
});
afterAll(() => model.dispose());

const row = (id: number) => Array.from(table.subarray(id * dim, id * dim + dim));

describe('lookup of a 6 × 4 table', () => {
  it('gives one row per id, repeated where the id is', async () => {
    const { data, dims } = await model.lookup([3, 1, 3]);
    expect(dims).toEqual([3, 4]);
    expect(Array.from(data)).toEqual([...row(3), ...row(1), ...row(3)]);
  });

  it('is the one-hot matrix times E', async () => {
    const ids = [5, 0, 2];
    const { data } = await model.lookup(ids);
    const oneHot = ids.map((id) => Array.from({ length: rows }, (_, i) => Number(i === id)));
    const product = oneHot.flatMap((h) =>
      Array.from({ length: dim }, (_, j) => h.reduce((sum, x, i) => sum + x * table[i * dim + j]!, 0)),
    );
    expect(Array.from(data)).toEqual(product);
  });

  it('permutes its rows as the ids are permuted', async () => {
    const a = await model.lookup([4, 0, 2, 1]);
    const b = await model.lookup([1, 2, 4, 0]);
    const from = (data: Float32Array, i: number) => Array.from(data.subarray(i * dim, i * dim + dim));
    expect([3, 2, 0, 1].map((i) => from(a.data, i))).toEqual([0, 1, 2, 3].map((i) => from(b.data, i)));
  });

  const same: [string, Parameters<EmbeddingModel['lookup']>[0]][] = [
    ['an array', [5, 0]],
    ['an Int32Array', Int32Array.of(5, 0)],
    ['a Uint32Array', Uint32Array.of(5, 0)],
    ['a BigInt64Array', BigInt64Array.of(5n, 0n)],
  ];
  it.each(same)('takes %s', async (_, ids) => {
    const { data, dims } = await model.lookup(ids);
    expect(dims).toEqual([2, dim]);
    expect(Array.from(data)).toEqual([...row(5), ...row(0)]);
  });

  it('gives [B, N, d] for nested arrays', async () => {
    const { data, dims } = await model.lookup([
      [0, 1, 2],
      [3, 4, 5],
    ]);
    expect(dims).toEqual([2, 3, dim]);
    expect(Array.from(data)).toEqual(Array.from(table));
  });

  it('gives [0, d] for no ids, and [B, 0, d] for empty rows', async () => {
    const none = await model.lookup([]);
    expect(none.dims).toEqual([0, dim]);
    expect(none.data).toHaveLength(0);
    expect((await model.lookup([[], []])).dims).toEqual([2, 0, dim]);
  });
});

describe('wrong ids', () => {
  const wrong: [unknown, new () => Error, RegExp][] = [
    [[0, 6], RangeError, /id 6 at position 1 .*6 rows/],
    [[-1], RangeError, /id -1 at position 0/],
    [[0, 1, 2 ** 32], RangeError, /id 4294967296 at position 2/],
    [[1.5], RangeError, /id 1\.5 at position 0 is not a whole number/],
    [[0, NaN], RangeError, /id NaN at position 1 is not a whole number/],
    [[Infinity], RangeError, /id Infinity at position 0/],
    [BigInt64Array.of(0n, 2n ** 32n), RangeError, /id 4294967296 at position 1/],
    [BigInt64Array.of(-(2n ** 63n)), RangeError, /id -9223372036854775808 at position 0/],
    [Int32Array.of(-1), RangeError, /id -1 at position 0/],
    [Uint32Array.of(2 ** 32 - 1), RangeError, /id 4294967295 at position 0/],
    [
      [
        [0, 1],
        [2, 6],
      ],
      RangeError,
      /id 6 at row 1, position 1/,
    ],
    [[[0, 1], [2]], TypeError, /row 1 of ids has 1 ids where row 0 has 2/],
    [[[0, 1], 2], TypeError, /row 1 of ids/],
    [['1'], TypeError, /the id at position 0 is the string "1"/],
    [[1n], TypeError, /bigint 1/],
    [[undefined], TypeError, /position 0 is undefined/],
    [[0, [1]], TypeError, /position 1/],
    ['0', TypeError, /ids must be/],
    [undefined, TypeError, /ids must be/],
    [Float32Array.of(1), TypeError, /Float32Array/],
  ];
  it.each(wrong)('%o', async (ids, kind, message) => {
    const out = new Float32Array(8).fill(7);
    const failure = model.lookup(ids as number[], { out: out.subarray(0, 4) });
    await expect(failure).rejects.toThrow(message);
    await expect(failure).rejects.toBeInstanceOf(kind);
    expect(out).toEqual(new Float32Array(8).fill(7));
  });
});
