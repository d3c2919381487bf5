/** The persistent cache, on whatever this runtime keeps files in: disk, OPFS or the Cache API. */
import { afterEach, describe, expect, inject, test, vi } from 'vitest';
import { openCache } from '../../bindings/js/cache/default.js';
import { createHasher } from '../../bindings/js/cache/sha256.js';
import { openSource, type SourceOptions } from '../../bindings/js/sources/open.js';
import { place } from './faults/client.js';
import { patternBytes } from './faults/content.js';
import { bad, good, isAboutTime } from './faults/matrix.js';

const kSize = 5_000_003;
const kFile = `pattern-${kSize}.bin`;
const kHeaderBytes = 32 * 1024;

const isNode = typeof process !== 'undefined' && process.versions?.node !== undefined;
const cache = openCache({ folder: isNode ? `${inject('temporary')}/cache-test` : undefined });
const options: SourceOptions = { cache, retryDelay: 5, stallTimeout: 15_000 };

afterEach(() => cache.clear());

async function readAll(url: string, more: SourceOptions = {}): Promise<Uint8Array> {
  const source = await openSource(url, { ...options, ...more });
  const bytes = await source.read(0, await source.size());
  await source.finish?.();
  await source.close?.();
  return bytes;
}

function equal(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((value, i) => value === b[i]);
}

async function digest(bytes: Uint8Array): Promise<string> {
  const hasher = await createHasher();
  hasher.update(bytes);
  return `sha256-${btoa(String.fromCharCode(...hasher.peek()))}`;
}

describe('a second load', () => {
  test('costs one small request', async () => {
    const { url, stats } = place('ok', kFile);
    expect(equal(await readAll(url), patternBytes(0, kSize))).toBe(true);
    const before = await stats();
    expect(before.bytes).toBe(kSize);
    expect(equal(await readAll(url), patternBytes(0, kSize))).toBe(true);
    const after = await stats();
    expect(after.bytes - before.bytes).toBe(kHeaderBytes);
    expect(after.requests.length - before.requests.length).toBe(1);
  });

  test('fetches only what the first one left out', async () => {
    const { url, stats } = place('ok', kFile);
    const first = await openSource(url, options);
    await first.read(1_000_000, 2_500_000);
    const second = await openSource(url, options);
    expect(equal(await second.read(900_000, 3_000_000), patternBytes(900_000, 3_000_000))).toBe(true);
    expect((await stats()).bytes).toBe(2 * kHeaderBytes + 1_500_000 + 100_000 + 500_000);
    expect(second.traffic).toMatchObject({ cached: 1_500_000 });
  });

  test('of a changed file takes the new version, and the old one is gone', async () => {
    const { url } = place('new-version', kFile);
    await readAll(url);
    await readAll(url);
    expect((await cache.list()).filter((file) => file.url === url)).toHaveLength(1);
  });
});

describe('list, size, delete, clear', () => {
  test('tell and forget what is there', async () => {
    const [a, b] = [place('ok', kFile).url, place('ok', 'pattern-1000.bin').url];
    await readAll(a);
    await readAll(b);
    expect(await cache.list()).toMatchObject([
      { url: b, size: 1000, bytes: 1000, complete: true },
      { url: a, size: kSize, bytes: kSize, complete: true },
    ]);
    expect(await cache.size()).toBe(kSize + 1000);
    expect(await cache.delete(a)).toBe(1);
    expect(await cache.delete(a)).toBe(0);
    expect(await cache.size()).toBe(1000);
    await cache.clear();
    expect(await cache.list()).toEqual([]);
  });
});

describe('offline', () => {
  test('uses what is cached, without a request', async () => {
    const { url, stats } = place('ok', kFile);
    await readAll(url);
    const { requests } = await stats();
    expect(equal(await readAll(url, { offline: true }), patternBytes(0, kSize))).toBe(true);
    expect((await stats()).requests).toEqual(requests);
  });

  test('fails at once for what is not', async () => {
    const { url, stats } = place('ok', kFile);
    const whole = await openSource(url, { ...options, offline: true });
    await expect(whole.size()).rejects.toMatchObject({
      code: 'offline',
      message: expect.stringContaining(url) as string,
    });
    expect((await stats()).requests).toEqual([]);
    await (await openSource(url, options)).read(0, 1000);
    const part = await openSource(url, { ...options, offline: true });
    expect(await part.read(0, 1000)).toEqual(patternBytes(0, 1000));
    await expect(part.read(500, 2_000_000)).rejects.toMatchObject({ code: 'offline' });
    await expect(part.readRanges!([{ start: 2_000_000, end: 2_000_001 }])).rejects.toMatchObject({
      code: 'offline',
    });
  });

  test('a server that cannot be reached is no obstacle', async () => {
    const { url } = place('gone-later', kFile);
    await readAll(url);
    expect(equal(await readAll(url), patternBytes(0, kSize))).toBe(true);
  });
});

describe('interrupted', () => {
  test('a load goes on where it stopped, with the same bytes', async () => {
    const { url, stats, closed } = place('pause', kFile);
    const controller = new AbortController();
    const source = await openSource(url, options);
    let got = 0;
    await expect(async () => {
      for await (const chunk of source.stream(0, kSize, { signal: controller.signal })) {
        got += chunk.length;
        if (got > 2_500_000) controller.abort();
      }
    }).rejects.toMatchObject({ name: 'AbortError' });
    await closed();
    const before = (await stats()).requests.length;
    expect(equal(await readAll(url), patternBytes(0, kSize))).toBe(true);
    const resumed = (await stats()).requests.slice(before);
    expect(resumed).toHaveLength(2);
    expect(Number(/^bytes=(\d+)-/.exec(resumed[1]!)![1])).toBeGreaterThan(2_000_000);
  });

  test('two loads at once share an entry without harm', async () => {
    const { url } = place('ok', kFile);
    const all = await Promise.all([readAll(url), readAll(url), readAll(url)]);
    for (const bytes of all) expect(equal(bytes, patternBytes(0, kSize))).toBe(true);
    expect(equal(await readAll(url, { offline: true }), patternBytes(0, kSize))).toBe(true);
    expect(await cache.list()).toHaveLength(1);
  });
});

describe('bounded', () => {
  test('the least recently used goes first; what does not fit is not kept', async () => {
    const small = openCache({
      limit: 6_000_000,
      folder: isNode ? `${inject('temporary')}/small` : undefined,
    });
    const load = (url: string) => readAll(url, { cache: small });
    const urls = [1, 2, 3].map(() => place('ok', 'pattern-2500000.bin').url);
    await load(urls[0]!);
    await load(urls[1]!);
    await load(urls[0]!);
    await load(urls[2]!);
    expect((await small.list()).map(({ url }) => url)).toEqual([urls[2], urls[0]]);
    const { url } = place('ok', 'pattern-9000000.bin');
    expect(equal(await load(url), patternBytes(0, 9_000_000))).toBe(true);
    expect(await small.size()).toBeLessThanOrEqual(6_000_000);
    await small.clear();
  });

  test('a cache that cannot be written fails no load', async () => {
    const { url } = place('ok', kFile);
    const none = openCache({ limit: 0, folder: isNode ? '/proc/no/such/folder' : undefined });
    expect(equal(await readAll(url, { cache: none }), patternBytes(0, kSize))).toBe(true);
    expect(await none.list()).toEqual([]);
  });
});

describe('nothing wrong is cached', () => {
  const size = 700_001;
  const file = `pattern-${size}.bin`;

  test.each([...good, ...bad.map(([behaviour]) => behaviour)])('%s', async (behaviour) => {
    const { url, closed } = place(behaviour, file);
    const isGood = good.includes(behaviour);
    const patience = isAboutTime(behaviour) ? { stallTimeout: 300 } : {};
    const read = readAll(url, { retries: isGood ? 5 : 1, ...patience });
    if (isGood) expect(equal(await read, patternBytes(0, size))).toBe(true);
    else await expect(read).rejects.toBeInstanceOf(Error);
    await closed();
    // What came before a failure may stay, if it is right.
    const offline = await openSource(url, { ...options, offline: true });
    for (const { key, complete, bytes } of (await cache.list()).filter((entry) => entry.url === url)) {
      expect(complete || !isGood, key).toBe(true);
      if (complete) expect(equal(await offline.read(0, size), patternBytes(0, size))).toBe(true);
      else expect(equal(await offline.read(0, bytes), patternBytes(0, bytes))).toBe(true);
    }
    if (['404', '403', '401', 'html', 'html-disguised', '429-long', '500-always'].includes(behaviour)) {
      expect(await cache.list()).toEqual([]);
    }
  });

  test.skipIf(!isNode)('a block that is cut off, or of another length, is fetched again', async () => {
    const { readdir, truncate, appendFile } = await import('node:fs/promises');
    const { url } = place('ok', kFile);
    await readAll(url);
    const folder = `${inject('temporary')}/cache-test/${(await cache.list())[0]!.key}`;
    const blocks = (await readdir(folder)).filter((name) => name !== 'meta.json');
    expect(blocks.length).toBeGreaterThan(4);
    await truncate(`${folder}/${blocks[1]}`, 1000);
    await appendFile(`${folder}/${blocks[2]}`, 'x');
    expect(equal(await readAll(url), patternBytes(0, kSize))).toBe(true);
    await expect(
      readAll(url, { offline: true }).then((bytes) => equal(bytes, patternBytes(0, kSize))),
    ).resolves.toBe(true);
  });
});

describe.skipIf(isNode)('a window', () => {
  afterEach(() => vi.restoreAllMocks());

  test('that keeps nothing loads without a cache', async () => {
    const refused = new DOMException('The operation is insecure.', 'SecurityError');
    vi.spyOn(caches, 'open').mockRejectedValue(refused);
    vi.spyOn(caches, 'keys').mockRejectedValue(refused);
    const storage = navigator.storage as Partial<StorageManager> | undefined;
    if (storage?.getDirectory) vi.spyOn(navigator.storage, 'getDirectory').mockRejectedValue(refused);
    const none = openCache();
    const { url } = place('ok', kFile);
    expect(equal(await readAll(url, { cache: none }), patternBytes(0, kSize))).toBe(true);
    expect(await none.kind()).toBe('none');
    expect(await none.list()).toEqual([]);
    await expect(readAll(url, { cache: none, offline: true })).rejects.toMatchObject({ code: 'offline' });
  });

  test('that is full half-way keeps what fits, and the load goes on', async () => {
    const { url, stats } = place('ok', kFile);
    let writes = 0;
    const full = new DOMException('No room.', 'QuotaExceededError');
    if ((await cache.kind()) === 'opfs') {
      const { createWritable } = FileSystemFileHandle.prototype;
      vi.spyOn(FileSystemFileHandle.prototype, 'createWritable').mockImplementation(function (
        this: FileSystemFileHandle,
      ) {
        return (writes += 1) > 4 ? Promise.reject(full) : createWritable.call(this);
      });
    } else {
      const { put } = Cache.prototype;
      vi.spyOn(Cache.prototype, 'put').mockImplementation(function (this: Cache, request, response) {
        return (writes += 1) > 4 ? Promise.reject(full) : put.call(this, request, response);
      });
    }
    expect(equal(await readAll(url), patternBytes(0, kSize))).toBe(true);
    expect(writes).toBe(5); // meta.json, some blocks, and one that was refused
    vi.restoreAllMocks();
    const [entry] = await cache.list();
    expect(entry!.bytes).toBeGreaterThan(2e6);
    expect(entry!.complete).toBe(false);
    const before = (await stats()).bytes;
    expect(equal(await readAll(url), patternBytes(0, kSize))).toBe(true);
    expect((await stats()).bytes - before).toBeLessThan(kSize - entry!.bytes + 2 * kHeaderBytes);
  });
});

describe('integrity', () => {
  const right = () => digest(patternBytes(0, kSize));

  test.each([true, false])('a right digest, cache: %s', async (cached) => {
    const { url, stats } = place('ok', kFile);
    const more = { integrity: await right(), cache: cached && cache };
    expect(equal(await readAll(url, more), patternBytes(0, kSize))).toBe(true);
    expect((await stats()).bytes).toBe(kSize);
    if (!cached) return;
    expect(equal(await readAll(url, more), patternBytes(0, kSize))).toBe(true);
    expect((await stats()).requests).toHaveLength(2);
    expect(await cache.list()).toMatchObject([{ complete: true, integrity: more.integrity }]);
  });

  test('a wrong digest is never cached', async () => {
    const { url } = place('ok', kFile);
    const integrity = await digest(patternBytes(1, kSize));
    await expect(readAll(url, { integrity })).rejects.toMatchObject({
      code: 'integrity',
      message: expect.stringContaining(await right()) as string,
    });
    expect(await cache.list()).toEqual([]);
  });

  test('a part costs the whole file, once, in any order of reads', async () => {
    const { url, stats } = place('ok', kFile);
    const source = await openSource(url, { ...options, integrity: await right() });
    for (const start of [4_900_000, 10, 2_000_000, 1_000_000, 4_990_000]) {
      expect(await source.read(start, start + 100)).toEqual(patternBytes(start, start + 100));
    }
    await source.finish!();
    expect((await stats()).bytes).toBe(kSize);
  });

  test('bytes that were handed out before going back are vouched for, too', async () => {
    const bytes = patternBytes(0, kSize);
    const integrity = await right();
    let lies = true;
    const source = await openSource(
      {
        byteLength: kSize,
        slice(start: number, end: number) {
          const part = bytes.slice(start, end);
          if (lies && start <= 4_500_000 && 4_500_000 < end) part[4_500_000 - start]! ^= 1;
          return part;
        },
      },
      { integrity },
    );
    await source.read(4_500_000, 4_500_001);
    lies = false;
    await source.read(4_300_000, 4_300_001);
    await expect(source.finish!()).rejects.toMatchObject({ code: 'integrity' });
  });

  test('by file name', async () => {
    const { url } = place('ok', kFile);
    const integrity = {
      'pattern-10.bin': await digest(patternBytes(0, 10)),
      'pattern-20.bin': await right(),
    };
    const source = await openSource(url, { ...options, integrity });
    await source.sibling('pattern-10.bin').read(0, 10);
    await source.finish!();
    await source.sibling('pattern-20.bin').read(0, 20);
    await expect(source.finish!()).rejects.toMatchObject({ code: 'integrity' });
  });

  test.each(['md5-x', 'sha256-', 'sha256-!!!!', 'sha384-abc'])('%s is no digest', async (integrity) => {
    await expect(openSource(new Uint8Array(3), { integrity })).rejects.toBeInstanceOf(TypeError);
  });
});
