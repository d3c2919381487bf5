// The synchronous layer: tables from bytes, results in place, memory that grows under a caller's views.
import { EmbeddingTable } from 'id2vec';
import { describe, expect, it } from 'vitest';
import { decodeRow, formatNames, randomTable } from './files/formats.js';
import { bits, dot, dotBound } from './files/reference.js';

const rows = 33;
const dim = 64;

describe.each(formatNames)('a table of %s', (dtype) => {
  const data = randomTable(dtype, rows, dim, 11);

  it('is made from the bytes of its rows', async () => {
    using table = await EmbeddingTable.create(data, { dtype, dim });
    expect(table).toMatchObject({ vocabSize: rows, dim, dtype, bytes: data.length });
    expect(bits(table.lookup([32, 0]).data)).toEqual(
      bits([32, 0].flatMap((id) => decodeRow(dtype, data, dim, id))),
    );
  });

  it('writes to and reads from its own memory without a copy', async () => {
    using table = await EmbeddingTable.create(data, { dtype, dim });
    using vectors = table.allocate(2 * dim);
    using scores = table.allocate(2 * rows);
    const looked = table.lookup([4, 5], { out: vectors.data });
    expect(looked.data.buffer).toBe(vectors.data.buffer);
    expect(looked.data.byteOffset).toBe(vectors.data.byteOffset);
    const scored = table.logits(vectors.data, { out: scores.data });
    expect(scored.data.byteOffset).toBe(scores.data.byteOffset);
    const h = decodeRow(dtype, data, dim, 5);
    for (let id = 0; id < rows; id++) {
      const row = decodeRow(dtype, data, dim, id);
      const error = Math.abs(scores.data[rows + id]! - dot(row, h));
      expect(error).toBeLessThan(dotBound(row, h));
    }
  });
});

describe('floats on the heap', () => {
  it('survive growth of the memory, though views of them do not', async () => {
    using table = await EmbeddingTable.create(new Float32Array(rows * dim).fill(2), { dtype: 'F32', dim });
    using floats = table.allocate(dim);
    const early = floats.data;
    table.lookup([1], { out: early });
    const heap = table.heapBytes;
    using large = table.allocate(4 << 20);
    expect(table.heapBytes).toBeGreaterThan(heap);
    expect(large.data).toHaveLength(4 << 20);
    expect(early).toHaveLength(0);
    expect(Array.from(floats.data)).toEqual(Array<number>(dim).fill(2));
  });

  it('are given back to be allocated again', async () => {
    using table = await EmbeddingTable.create(new Float32Array(dim), { dtype: 'F32', dim });
    table.allocate(1 << 20).dispose();
    const heap = table.heapBytes;
    for (let i = 0; i < 20; i++) table.allocate(1 << 20).dispose();
    expect(table.heapBytes).toBe(heap);
    const floats = table.allocate(4);
    floats.dispose();
    floats.dispose();
    expect(() => floats.data).toThrow(/disposed/);
  });

  it('say so where there is no room', async () => {
    using table = await EmbeddingTable.create(new Float32Array(dim), { dtype: 'F32', dim });
    expect(() => table.allocate(2 ** 31)).toThrow(/no room/);
    expect(() => table.allocate(-1)).toThrow(RangeError);
    expect(table.lookup([0]).data).toEqual(new Float32Array(dim));
  });
});

describe('large calls', () => {
  it('leave the memory small', async () => {
    using table = await EmbeddingTable.create(randomTable('Q8_0', rows, dim, 3), { dtype: 'Q8_0', dim });
    const ids = Array.from({ length: 100_000 }, (_, i) => (i * 7) % rows);
    const { data } = table.lookup(ids); // 25 MB
    expect(table.heapBytes).toBeLessThan(12 << 20);
    const { data: last } = table.lookup(ids.slice(-1));
    expect(data.subarray(-dim)).toEqual(last);
    const { data: scores } = table.logits(data.subarray(0, 50_000 * dim)); // 6.6 MB from 12.8 MB
    expect(table.heapBytes).toBeLessThan(24 << 20);
    const { data: alone } = table.logits(data.subarray(49_999 * dim, 50_000 * dim));
    expect(scores.subarray(-rows)).toEqual(alone);
  });
});

describe('what no table can be made of', () => {
  it.each([
    ['Q9_9', 32, 34, /Q9_9.*F32/],
    ['Q8_0', 32, 35, /35 bytes are no whole number of Q8_0 rows of 32/],
    ['Q8_0', 33, 34, /33/],
    ['F32', 0, 16, /0 weights/],
    ['F32', 4, 0, /0 bytes/],
  ])('%s, d = %i, %i bytes', async (dtype, dim, bytes, message) => {
    await expect(EmbeddingTable.create(new Uint8Array(bytes), { dtype, dim })).rejects.toThrow(message);
  });
});
