/** Rows that are fetched when they are needed: right, few requests, few bytes. */
import { EmbeddingModel } from 'id2vec';
import { describe, expect, test } from 'vitest';
import { place } from './faults/client.js';
import { virtualTable, weightAt } from './faults/content.js';

// "What is the capital of France?" in GPT-2's ids.
const kIds = [2061, 318, 262, 3139, 286, 4881, 30];
const kRemote = { residency: 'remote', cache: false } as const;

function rowsOf(columns: number, ids: number[]): Float32Array {
  return Float32Array.from(
    ids.flatMap((id) => Array.from({ length: columns }, (_, i) => weightAt(id * columns + i))),
  );
}

describe('seven rows of a table of 400 MB', () => {
  const file = 'table-50257x4096-before-0-after-0.safetensors';

  test.each([
    ['ok', 4],
    ['one-range', 10],
    ['cors-hidden', 5],
  ])('from a server that is %s cost at most %i requests and their own bytes', async (behaviour, requests) => {
    const { url, stats, closed } = place(behaviour, file);
    await using model = await EmbeddingModel.load(url, kRemote);
    const { data, dims } = await model.lookup(kIds);
    expect(dims).toEqual([7, 4096]);
    expect(data).toEqual(rowsOf(4096, kIds));
    const seen = await stats();
    expect(seen.requests.length).toBeLessThanOrEqual(requests);
    // The server that takes one range at a time has begun to send the whole file before the request is closed.
    const wasted = behaviour === 'one-range' ? 16 << 20 : 0;
    expect(seen.bytes).toBeLessThanOrEqual(virtualTable(file)!.headerBytes + 7 * 8192 + 65_536 + wasted);
    await closed();
  });

  test('come from the row cache the second time', async () => {
    const { url, stats } = place('ok', file);
    await using model = await EmbeddingModel.load(url, kRemote);
    await model.lookup(kIds);
    const { requests } = await stats();
    const [first, second] = await Promise.all([model.lookup([30, 262]), model.lookup([[4881], [30]])]);
    expect(first.data).toEqual(rowsOf(4096, [30, 262]));
    expect(second).toEqual({ data: rowsOf(4096, [4881, 30]), dims: [2, 1, 4096] });
    expect((await stats()).requests).toEqual(requests);
    expect(model.info).toMatchObject({
      residency: 'remote',
      remote: { hits: 4, misses: 7, cachedRows: 7, cachedBytes: 7 * 8192, requests: requests.length },
    });
  });

  test('of concurrent calls share requests', async () => {
    const { url, stats } = place('ok', file);
    await using model = await EmbeddingModel.load(url, kRemote);
    const before = (await stats()).requests.length;
    const all = await Promise.all(kIds.map((id) => model.lookup([id, 262])));
    all.forEach(({ data }, i) => expect(data).toEqual(rowsOf(4096, [kIds[i]!, 262])));
    expect((await stats()).requests.length).toBe(before + 1);
  });
});

describe('rows beyond 2³² bytes', () => {
  test.each(['ok', 'one-range'])('are the right ones, %s', async (behaviour) => {
    const file = 'table-900000x4096-before-3000000000-after-1000.safetensors';
    const ids = [0, 161_000, 400_000, 899_999];
    expect(virtualTable(file)!.size).toBeGreaterThan(10e9);
    const { url } = place(behaviour, file);
    await using model = await EmbeddingModel.load(url, kRemote);
    expect(model.vocabSize).toBe(900_000);
    expect((await model.lookup(ids)).data).toEqual(rowsOf(4096, ids));
  });
});

describe('a small table', () => {
  // The first 32 KiB, which come with the first answer, hold rows 0 to 240.
  const file = 'table-500x64-before-1000-after-1000.safetensors';
  const hidden = Float32Array.from({ length: 3 * 64 }, (_, i) => Math.sin(i));

  test('gives what the same table in memory gives', async () => {
    const { url } = place('ok', file);
    await using remote = await EmbeddingModel.load(url, kRemote);
    await using memory = await EmbeddingModel.load(url, { cache: false });
    const ids = [499, 0, 7, 7, 250, 1];
    expect(await remote.lookup(ids)).toEqual(await memory.lookup(ids));
    expect(await remote.logits(hidden, { ids })).toEqual(await memory.logits(hidden, { ids }));
    expect(await remote.topK(hidden, 3, { ids })).toEqual(await memory.topK(hidden, 3, { ids }));
    expect(await remote.lookup([])).toEqual(await memory.lookup([]));
    expect(remote.tied).toBe(memory.tied);
    const limited = { ids: [3, 2, 400, 1], limit: 300 };
    expect(await remote.topK(hidden, 2, limited)).toEqual(await memory.topK(hidden, 2, limited));
  });

  test('ids are checked before anything is fetched', async () => {
    const { url, stats } = place('ok', file);
    await using model = await EmbeddingModel.load(url, kRemote);
    const { requests } = await stats();
    for (const id of [500, -1, 2 ** 32, 1.5, NaN])
      await expect(model.lookup([0, id])).rejects.toThrow(RangeError);
    expect((await stats()).requests).toEqual(requests);
  });

  test('a call that needs all rows says so, or loads them', async () => {
    const { url, stats } = place('ok', file);
    await using without = await EmbeddingModel.load(url, kRemote);
    for (const call of [without.logits(hidden), without.topK(hidden, 5)]) {
      await expect(call).rejects.toMatchObject({
        code: 'remote',
        message: expect.stringContaining('whole: "load"') as string,
      });
    }
    const phases = new Map<string, number>();
    await using model = await EmbeddingModel.load(url, {
      ...kRemote,
      remote: { whole: 'load' },
      onProgress: ({ phase, loaded }) => void phases.set(phase, loaded),
    });
    expect([...phases.keys()]).toEqual(['header']);
    await using memory = await EmbeddingModel.load(url, { cache: false });
    const before = (await stats()).bytes;
    expect(await model.topK(hidden, 5)).toEqual(await memory.topK(hidden, 5));
    expect(await model.logits(hidden)).toEqual(await memory.logits(hidden));
    expect(phases.get('embedding')).toBe(500 * 64 * 2);
    expect((await stats()).bytes - before).toBeLessThanOrEqual(500 * 64 * 2);
  });

  test('a failed fetch rejects the call, and the next one works', async () => {
    const { url } = place('changes-and-back', file);
    await using model = await EmbeddingModel.load(url, kRemote);
    await expect(model.lookup([499])).rejects.toMatchObject({ code: 'changed' });
    expect((await model.lookup([499])).data).toEqual(rowsOf(64, [499]));
  });

  test('dispose ends what is on its way', async () => {
    const { url, closed } = place('stall-always', file);
    const model = await EmbeddingModel.load(url, kRemote);
    const lookup = model.lookup([499]);
    setTimeout(() => model.dispose(), 50);
    await expect(lookup).rejects.toMatchObject({ code: 'disposed' });
    await expect(model.lookup([1])).rejects.toMatchObject({ code: 'disposed' });
    await closed();
  });
});
