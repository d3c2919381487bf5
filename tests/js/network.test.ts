/** Whole models over the network: their own bytes and nothing else, and nothing left behind after a failure. */
import { EmbeddingModel, openCache } from 'id2vec';
import { describe, expect, inject, test } from 'vitest';
import { place, startServer } from './faults/client.js';
import { weightAt } from './faults/content.js';
import { bad, good, isAboutTime } from './faults/matrix.js';

const isNode = typeof process !== 'undefined' && process.versions?.node !== undefined;
const hasOpfs =
  typeof FileSystemFileHandle !== 'undefined' && 'createWritable' in FileSystemFileHandle.prototype;
const kStore = isNode ? 'disk' : hasOpfs ? 'opfs' : 'cache-api';
const kSmall = 'table-2000x64-before-100000-after-100000.safetensors';
const kQuick = { cache: false, retryDelay: 5, retries: 2 };
const patience = (behaviour: string) => (isAboutTime(behaviour) ? { stallTimeout: 300 } : {});

test('a table of 150 MB in a file of 500 MB costs its own bytes, in memory and on the line', async () => {
  const { url, stats } = place('ok', 'table-50000x1536-before-200000000-after-150000000.safetensors');
  const bytes = 50_000 * 1536 * 2;
  await using model = await EmbeddingModel.load(url, kQuick);
  expect((await stats()).bytes).toBeLessThanOrEqual(1.01 * bytes);
  expect(model.info.memory.embedding).toBe(bytes);
  expect(model.info.memory.heap).toBeLessThanOrEqual(bytes + 10e6);
  const { data } = await model.lookup([49_999]);
  expect(data[1535]).toBe(weightAt(49_999 * 1536 + 1535));
}, 60_000);

test('what a load has cost is told, and what the cache saved', async () => {
  const cache = openCache({ folder: isNode ? `${inject('temporary')}/traffic` : undefined });
  const file = 'table-2000x64-before-100000-after-300000.safetensors';
  const { url, stats } = place('ok', file);
  const whole = await (await fetch(place('ok', file).url)).blob();
  {
    await using model = await EmbeddingModel.load(url, { ...kQuick, cache });
    const { bytes, requests } = await stats();
    const { traffic } = model.info;
    expect(traffic).toMatchObject({ fetchedBytes: bytes, cachedBytes: 0, fileBytes: whole.size });
    expect(traffic!.requests).toBe(requests.length);
    expect(traffic!.fetchedBytes).toBeLessThan(2000 * 64 * 2 + 70_000);
  }
  await using again = await EmbeddingModel.load(url, { ...kQuick, cache, offline: true });
  expect(again.info.traffic).toMatchObject({ fetchedBytes: 0, requests: 0, fileBytes: whole.size });
  expect(again.info.traffic!.cachedBytes).toBeGreaterThanOrEqual(2000 * 64 * 2);
  await cache.delete(url);
  await using own = await EmbeddingModel.load(whole);
  expect(own.info.traffic).toBeUndefined();
});

describe('a model from a server that misbehaves', () => {
  test.each(good)('%s: is right', async (behaviour) => {
    const { url, closed } = place(behaviour, kSmall);
    await using model = await EmbeddingModel.load(url, { ...kQuick, ...patience(behaviour), retries: 5 });
    const { data } = await model.lookup([0, 1999]);
    expect(Array.from(data)).toEqual(
      Array.from({ length: 128 }, (_, i) => weightAt(i < 64 ? i : 1999 * 64 + i - 64)),
    );
    await closed();
  });

  test.each(bad)('%s: is refused, and a good one loads next', async (behaviour, code) => {
    const { url, closed } = place(behaviour, kSmall);
    await expect(EmbeddingModel.load(url, { ...kQuick, ...patience(behaviour) })).rejects.toMatchObject({
      code: expect.stringMatching(new RegExp(`^(${code})$`)) as string,
    });
    await closed();
    await using model = await EmbeddingModel.load(place('ok', kSmall).url, kQuick);
    expect(model.vocabSize).toBe(2000);
  });

  test('what is no model is not kept', async () => {
    const cache = openCache({ folder: isNode ? `${inject('temporary')}/no-model` : undefined });
    const { url } = place('ok', 'pattern-100000.bin');
    await expect(EmbeddingModel.load(url, { ...kQuick, cache })).rejects.toThrow();
    expect((await cache.list()).filter((file) => file.url === url)).toEqual([]);
  });
});

describe('integrity', () => {
  test('a model is handed out only if the whole file has the digest', async () => {
    const cache = openCache({ folder: isNode ? `${inject('temporary')}/integrity` : undefined });
    const { url, stats } = place('ok', kSmall);
    const bytes = await (await fetch(url)).arrayBuffer();
    const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
    const integrity = `sha256-${btoa(String.fromCharCode(...hash))}`;
    const wrong = `sha256-${btoa(String.fromCharCode(...hash.reverse()))}`;
    await expect(EmbeddingModel.load(url, { ...kQuick, cache, integrity: wrong })).rejects.toMatchObject({
      code: 'integrity',
    });
    expect((await cache.list()).filter((file) => file.url === url)).toEqual([]);
    await using model = await EmbeddingModel.load(url, { ...kQuick, cache, integrity });
    expect((await model.lookup([1999])).data[63]).toBe(weightAt(2000 * 64 - 1));
    const { requests } = await stats();
    await using again = await EmbeddingModel.load(url, { ...kQuick, cache, integrity });
    // The file is known by its digest now; only config.json is asked for.
    expect((await stats()).requests.length).toBeLessThanOrEqual(requests.length + 1);
    expect(again.vocabSize).toBe(2000);
    await cache.delete(url);
  });
});

describe('abort', () => {
  test.each([0, 1, 20, 60, 120])('after %i ms', async (milliseconds) => {
    const { url, closed } = place('paced', 'table-20000x512-before-1000-after-1000.safetensors');
    const controller = new AbortController();
    const reason = new Error('not any more');
    setTimeout(() => controller.abort(reason), milliseconds);
    await expect(EmbeddingModel.load(url, { ...kQuick, signal: controller.signal })).rejects.toBe(reason);
    await closed();
  });

  test.each(['memory', 'workers', 'remote'] as const)(
    'while headers are waited for: %s',
    async (residency) => {
      const { url, closed } = place('stall-headers', kSmall);
      const controller = new AbortController();
      const reason = new Error('not any more');
      setTimeout(() => controller.abort(reason), 50);
      const options = { ...kQuick, residency, signal: controller.signal };
      await expect(EmbeddingModel.load(url, options)).rejects.toBe(reason);
      await closed();
    },
  );
});

describe('offline', () => {
  test.each(['memory', 'workers', 'remote'] as const)(
    'a cached model loads and embeds after its server was stopped: %s',
    async (residency) => {
      const cache = openCache({ folder: isNode ? `${inject('temporary')}/offline-${residency}` : undefined });
      // WebKitGTK has no OPFS.
      expect(await cache.kind()).toBe(kStore);
      const server = await startServer();
      const { url } = place('ok', kSmall, server.base);
      const options = { ...kQuick, cache, workers: 2 };
      await using online = await EmbeddingModel.load(url, options);
      await server.stop();
      await expect(fetch(url)).rejects.toThrow();
      await using offline = await EmbeddingModel.load(url, { ...options, residency, offline: true });
      await using unreachable = await EmbeddingModel.load(url, { ...options, residency });
      for (const ids of [[3, 1, 3], [1999]]) {
        const expected = await online.embed(ids);
        expect(await offline.embed(ids)).toEqual(expected);
        expect(await unreachable.embed(ids)).toEqual(expected);
      }
      await cache.delete(url);
      const gone = EmbeddingModel.load(url, { ...options, residency, offline: true });
      await expect(gone).rejects.toMatchObject({ code: 'offline' });
      await expect(EmbeddingModel.load(url, { ...options, residency })).rejects.toMatchObject({
        code: 'network',
      });
    },
  );
});
