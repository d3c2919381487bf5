/** Workers read their own rows from wherever they can, and are fed where they cannot: as right, as frugal, as tidy. */
import { EmbeddingModel, openCache } from 'id2vec';
import type { LoadOptions, SourceLike } from 'id2vec';
import { afterEach, describe, expect, inject, test } from 'vitest';
import { place } from './faults/client.js';
import { virtualTable, weightAt } from './faults/content.js';
import { bad, good, isAboutTime } from './faults/matrix.js';
import { randomTable } from './files/formats.js';
import { gguf } from './files/gguf.js';

const isNode = typeof process !== 'undefined' && process.versions?.node !== undefined;
// A table of 2.56 MB: in three workers, and in more than three requests where a reader is not careful.
const kFile = 'table-20000x64-before-3000000-after-1000000.safetensors';
const [rows, dim] = [20_000, 64];
const kBytes = rows * dim * 2;
const quick: LoadOptions = {
  residency: 'workers',
  workers: 3,
  cache: false,
  retryDelay: 5,
  retries: 2,
  stallTimeout: 15_000,
};
const patience = (behaviour: string) => (isAboutTime(behaviour) ? { stallTimeout: 300 } : {});
const kSample = [
  ...['ok', 'no-range', 'reset-often', 'whole-later', 'cors-hidden', 'redirect'],
  ...['404', 'changed-etag', 'stall-always'],
];
// Both ends of each worker's run.
const ids = [0, 6666, 6667, 13_333, 13_334, 19_999];

async function expectRight(model: EmbeddingModel): Promise<void> {
  const { data } = await model.lookup(ids);
  expect(Array.from(data)).toEqual(
    ids.flatMap((id) => Array.from({ length: dim }, (_, i) => weightAt(id * dim + i))),
  );
}

const nativeFetch = globalThis.fetch;
afterEach(() => void (globalThis.fetch = nativeFetch));

/** Counts what this thread asks for itself, at addresses that begin like this. */
function countFetches(start: string): { count: number } {
  const seen = { count: 0 };
  globalThis.fetch = (input, init) => {
    const address = input instanceof Request ? input.url : String(input);
    if (address.startsWith(start)) seen.count += 1;
    return nativeFetch(input, init);
  };
  return seen;
}

test('each worker fetches its own rows, once', async () => {
  const { url, stats, closed } = place('ok', kFile);
  const here = countFetches(url);
  await using model = await EmbeddingModel.load(url, quick);
  await expectRight(model);
  const { requests, bytes } = await stats();
  expect(here.count).toBe(1); // the head
  expect(requests.length).toBe(1 + 1 + 3); // the head, config.json, three runs of rows
  expect(bytes).toBeLessThanOrEqual(kBytes + 32 * 1024 + virtualTable(kFile)!.headerBytes);
  expect(model.info.memory).toMatchObject({ embedding: kBytes, head: 0 });
  expect(model.info.traffic).toMatchObject({
    fetchedBytes: bytes,
    cachedBytes: 0,
    requests: requests.length,
  });
  await closed();
});

test('memory is the table and a few megabytes per worker', async () => {
  const file = 'table-50000x512-before-1000-after-1000.safetensors';
  const { url } = place('ok', file);
  await using model = await EmbeddingModel.load(url, { ...quick, workers: 2 });
  const { embedding, heap } = model.info.memory;
  expect(embedding).toBe(50_000 * 512 * 2);
  expect(heap).toBeLessThan(embedding + 3 * 10e6); // two workers and this thread
});

describe('a server that misbehaves', () => {
  // The whole matrix takes its time where every test starts three workers.
  const isSampled = (behaviour: string) => isNode || kSample.includes(behaviour);

  test.each(good.filter(isSampled))('%s: is right', async (behaviour) => {
    const { url, closed } = place(behaviour, kFile);
    await using model = await EmbeddingModel.load(url, { ...quick, ...patience(behaviour), retries: 5 });
    await expectRight(model);
    await closed();
  });

  test.each(bad.filter(([behaviour]) => isSampled(behaviour)))('%s: is refused', async (behaviour, code) => {
    const { url, closed } = place(behaviour, kFile);
    await expect(EmbeddingModel.load(url, { ...quick, ...patience(behaviour) })).rejects.toMatchObject({
      code: expect.stringMatching(new RegExp(`^(${code})$`)) as string,
    });
    await closed();
  });
});

test('headers reach the workers’ requests', async () => {
  const { url } = place('token', kFile);
  const headers = { authorization: 'Bearer secret' };
  await using model = await EmbeddingModel.load(url, { ...quick, headers });
  await expectRight(model);
  await expect(EmbeddingModel.load(url, quick)).rejects.toMatchObject({ code: 'forbidden' });
});

test('a worker that dies while it reads is an error, and ends the reading of the others', async () => {
  const script = `
    const answers = { start: undefined, create: 0, open: 0 };
    const receive = (send) => ({ call, operation }) => {
      if (operation in answers) send({ call, answer: answers[operation] });
      else setTimeout(() => { throw new Error('out of breath'); }, 50);
    };
    if ('WorkerGlobalScope' in globalThis) {
      const take = receive((answer) => postMessage(answer));
      onmessage = ({ data }) => take(data);
    } else {
      const { parentPort } = await import('node:worker_threads');
      parentPort.on('message', receive((answer) => parentPort.postMessage(answer)));
    }`;
  const { url, closed } = place('paced', kFile);
  const worker = `data:text/javascript,${encodeURIComponent(script)}`;
  const failure = EmbeddingModel.load(url, { ...quick, worker });
  await expect(failure).rejects.toMatchObject({ code: 'worker' });
  await expect(failure).rejects.toThrow(/out of breath/);
  await closed();
});

describe('where workers cannot read themselves', () => {
  const fed: [string, (url: string) => [SourceLike, LoadOptions]][] = [
    ['a custom fetch', (url) => [url, { fetch: (input, init) => fetch(input, init) }]],
    ['a Request', (url) => [new Request(url), {}]],
    [
      'a caller’s own source',
      (url) => [
        {
          byteLength: virtualTable(kFile)!.size,
          slice: async (start: number, end: number) => {
            const range = { range: `bytes=${start}-${end - 1}` };
            return (await fetch(url, { headers: range })).arrayBuffer();
          },
        },
        {},
      ],
    ],
  ];

  test.each(fed)('%s is read here and passed on', async (_, make) => {
    const { url, stats, closed } = place('ok', kFile);
    const here = countFetches(new URL('.', url).href);
    const [source, options] = make(url);
    await using model = await EmbeddingModel.load(source, { ...quick, ...options });
    await expectRight(model);
    await closed();
    expect((await stats()).requests.length).toBe(here.count);
  });
});

describe('abort', () => {
  test.each([0, 1, 30, 100, 300])('after %i ms leaves no request open', async (milliseconds) => {
    const { url, closed } = place('paced', 'table-20000x512-before-1000-after-1000.safetensors');
    const controller = new AbortController();
    const reason = new Error('not any more');
    setTimeout(() => controller.abort(reason), milliseconds);
    await expect(EmbeddingModel.load(url, { ...quick, signal: controller.signal })).rejects.toBe(reason);
    await closed();
  });

  test('in the middle of the rows keeps what has come, for the next load', async () => {
    const cache = openCache({ folder: isNode ? `${inject('temporary')}/workers-abort` : undefined });
    const file = 'table-20000x512-before-1000-after-1000.safetensors';
    const { url, stats, closed } = place('paced', file);
    const controller = new AbortController();
    const onProgress = ({ loaded, total }: { loaded: number; total: number }) => {
      if (total > 0 && loaded > total / 2) controller.abort(new Error('enough'));
    };
    const options = { ...quick, cache };
    const load = EmbeddingModel.load(url, { ...options, signal: controller.signal, onProgress });
    await expect(load).rejects.toThrow('enough');
    await closed();
    const [entry] = (await cache.list()).filter((cached) => cached.url === url);
    expect(entry!.bytes).toBeGreaterThan(20_000 * 512 * 0.8);
    const before = (await stats()).bytes;
    await using model = await EmbeddingModel.load(url, options);
    expect((await model.lookup([19_999])).data[511]).toBe(weightAt(20_000 * 512 - 1));
    const table = 20_000 * 512 * 2;
    expect((await stats()).bytes - before).toBeLessThan(table - entry!.bytes + 200_000);
    await cache.delete(url);
  });
});

describe('cache', () => {
  const openNamed = (name: string, limit?: number) =>
    openCache({ folder: isNode ? `${inject('temporary')}/workers-${name}` : undefined, limit });

  test('is filled by the workers, and used by them with and without the network', async () => {
    const cache = openNamed('cache');
    const { url, stats } = place('ok', kFile);
    await using first = await EmbeddingModel.load(url, { ...quick, cache });
    await expectRight(first);
    const { bytes } = (await cache.list()).find((cached) => cached.url === url)!;
    expect(bytes).toBeGreaterThanOrEqual(kBytes);
    const before = await stats();
    await using second = await EmbeddingModel.load(url, { ...quick, cache });
    await expectRight(second);
    expect((await stats()).bytes - before.bytes).toBeLessThanOrEqual(32 * 1024);
    expect(second.info.traffic!.cachedBytes).toBeGreaterThanOrEqual(kBytes);
    const { requests } = await stats();
    await using offline = await EmbeddingModel.load(url, { ...quick, cache, offline: true });
    await expectRight(offline);
    // What workers kept serves this thread as well.
    await using here = await EmbeddingModel.load(url, { cache, offline: true });
    await expectRight(here);
    expect((await stats()).requests).toEqual(requests);
    await cache.delete(url);
    const gone = EmbeddingModel.load(url, { ...quick, cache, offline: true });
    await expect(gone).rejects.toMatchObject({ code: 'offline' });
  });

  test('keeps to its limit', async () => {
    const cache = openNamed('small', kBytes / 2);
    const { url } = place('ok', kFile);
    await using model = await EmbeddingModel.load(url, { ...quick, cache });
    await expectRight(model);
    expect(await cache.size()).toBeLessThanOrEqual(kBytes / 2);
    await cache.delete(url);
  });
});

test('integrity is that of the whole file', async () => {
  const cache = openCache({ folder: isNode ? `${inject('temporary')}/workers-integrity` : undefined });
  const { url, stats } = place('ok', kFile);
  const bytes = await (await fetch(url)).arrayBuffer();
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  const integrity = `sha256-${btoa(String.fromCharCode(...hash))}`;
  const wrong = `sha256-${btoa(String.fromCharCode(...hash.reverse()))}`;
  const options = { ...quick, cache };
  await expect(EmbeddingModel.load(url, { ...options, integrity: wrong })).rejects.toMatchObject({
    code: 'integrity',
  });
  expect((await cache.list()).filter((file) => file.url === url)).toEqual([]);
  await using model = await EmbeddingModel.load(url, { ...options, integrity });
  await expectRight(model);
  const before = (await stats()).requests.length;
  await using again = await EmbeddingModel.load(url, { ...options, integrity });
  await expectRight(again);
  expect((await stats()).requests.length).toBeLessThanOrEqual(before + 1); // config.json
  await cache.delete(url);
});

test('progress goes up to the total', async () => {
  const { url } = place('paced', kFile);
  const seen: { loaded: number; total: number; phase: string }[] = [];
  await using model = await EmbeddingModel.load(url, {
    ...quick,
    onProgress: (p) => void seen.push({ ...p }),
  });
  await expectRight(model);
  const table = seen.filter(({ phase }) => phase === 'embedding');
  expect(table.length).toBeGreaterThan(3);
  table.forEach(({ loaded, total }, i) => {
    expect(total).toBe(kBytes);
    expect(loaded).toBeGreaterThan(i === 0 ? 0 : table[i - 1]!.loaded);
  });
  expect(table.at(-1)!.loaded).toBe(kBytes);
});

describe('a file at hand', () => {
  const [v, d] = [203, 64];
  const table = randomTable('Q8_0', v, d, 1);
  // The same up to the last worker's last row.
  const almost = table.slice();
  almost[almost.length - 1]! ^= 1;
  const tensor = (name: string, data: Uint8Array) => ({ name, dtype: 'Q8_0' as const, shape: [v, d], data });
  const pair = (head: Uint8Array) =>
    gguf([tensor('token_embd.weight', table), tensor('output.weight', head)]);

  async function fileOf(name: string, bytes: Uint8Array<ArrayBuffer>): Promise<SourceLike> {
    if (!isNode) return new File([bytes], name);
    const { writeFile } = await import('node:fs/promises');
    await writeFile(`${inject('temporary')}/${name}`, bytes);
    return `${inject('temporary')}/${name}`;
  }

  test.each([
    ['twice', true, table],
    ['almost-twice', false, almost],
    ['other', false, randomTable('Q8_0', v, d, 2)],
  ])('with the head stored %s: tied is %s', async (name, tied, head) => {
    const bytes = pair(head);
    const source = await fileOf(`workers-${name}.gguf`, bytes);
    await using one = await EmbeddingModel.load(bytes);
    await using many = await EmbeddingModel.load(source, { residency: 'workers', workers: 3 });
    expect(many.tied).toBe(tied);
    const hidden = Float32Array.from({ length: d }, (_, i) => Math.sin(i));
    expect(await many.logits(hidden)).toEqual(await one.logits(hidden));
    const all = Array.from({ length: v }, (_, id) => id);
    expect(await many.lookup(all)).toEqual(await one.lookup(all));
  });
});
