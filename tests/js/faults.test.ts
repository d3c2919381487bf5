/**
 * The fault matrix: every way in which a server can misbehave, and what a read makes of it: the right bytes, or one
 * clear error; never wrong bytes, and no request left open.
 */
import { describe, expect, test } from 'vitest';
import { HttpSource, type HttpOptions } from '../../bindings/js/sources/http.js';
import { EmbeddingError } from '../../bindings/js/errors.js';
import { place } from './faults/client.js';
import { patternBytes } from './faults/content.js';
import { bad, good, isAboutTime } from './faults/matrix.js';

const kSize = 700_001;
const kFile = `pattern-${kSize}.bin`;
// A loaded machine may pause for a second, which is no stall; only tests of stalls are less patient.
const kQuick: HttpOptions = { retryDelay: 5, stallTimeout: 15_000 };
const kImpatient = { ...kQuick, stallTimeout: 300 };
const optionsFor = (behaviour: string) => (isAboutTime(behaviour) ? kImpatient : kQuick);

// Ranges that a loader might read: the head twice, a tensor in the middle, a small one behind, back again.
const kReads = [
  [0, 100],
  [0, 50_000],
  [200_000, 500_000],
  [600_000, 600_001],
  [kSize - 10, kSize],
  [100_000, 101_000],
] as const;

async function readAll(source: HttpSource): Promise<void> {
  expect(await source.size()).toBe(kSize);
  for (const [start, end] of kReads) {
    const bytes = await source.read(start, end);
    expect(equal(bytes, patternBytes(start, end)), `bytes ${start} to ${end}`).toBe(true);
  }
}

// Vitest's own comparison takes seconds for 300,000 elements.
function equal(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((value, i) => value === b[i]);
}

describe('right bytes in spite of', () => {
  test.each(good)('%s', async (behaviour) => {
    const { url, closed } = place(behaviour, kFile);
    const source = new HttpSource(url, optionsFor(behaviour));
    await readAll(source);
    source.close();
    await closed();
  });
});

describe('one clear error for', () => {
  test.each(bad)('%s', async (behaviour, code, message) => {
    const { url, closed } = place(behaviour, kFile);
    const source = new HttpSource(url, { ...optionsFor(behaviour), retries: 2 });
    const error = await readAll(source).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(EmbeddingError);
    expect((error as EmbeddingError).code).toMatch(new RegExp(`^(${code})$`));
    expect((error as Error).message).toMatch(message);
    expect((error as Error).message).toContain(url);
    await closed();
  });
});

describe('ranges', () => {
  const ranges = [5, 300_000, 70_000, 650_000, 123_456].map((start) => ({ start, end: start + 1000 }));

  test.each(['ok', 'one-range', 'no-range', 'no-length', 'cors-hidden'])(
    'several at once, %s',
    async (behaviour) => {
      const { url, closed } = place(behaviour, kFile);
      const source = new HttpSource(url, kQuick);
      const parts = await source.readRanges(ranges);
      ranges.forEach(({ start, end }, i) => expect(equal(parts[i]!, patternBytes(start, end))).toBe(true));
      source.close();
      await closed();
    },
  );

  test('cost their own bytes, in one request where the server can', async () => {
    const { url, stats } = place('ok', kFile);
    const source = new HttpSource(url, kQuick);
    await source.readRanges(ranges);
    expect(await stats()).toMatchObject({ bytes: 32 * 1024 + 4000, requests: { length: 2 } });
  });

  test('a server without them is asked once for ascending reads', async () => {
    const { url, stats } = place('no-range', kFile);
    const source = new HttpSource(url, kQuick);
    expect(await source.size()).toBe(kSize);
    expect(source.parallel).toBe(1);
    for (const start of [0, 10, 100_000, 300_000, 699_000]) {
      expect(equal(await source.read(start, start + 1000), patternBytes(start, start + 1000))).toBe(true);
    }
    expect((await stats()).requests).toEqual(['bytes=0-32767']);
    source.close();
  });

  test('beyond 2³² bytes', async () => {
    const size = 6 * 2 ** 30;
    const { url, stats } = place('ok', `pattern-${size}.bin`);
    const source = new HttpSource(url, kQuick);
    expect(await source.size()).toBe(size);
    const start = 2 ** 32 + 12_345;
    expect(await source.read(start, start + 300)).toEqual(patternBytes(start, start + 300));
    expect(await source.read(size - 5, size)).toEqual(patternBytes(size - 5, size));
    expect((await stats()).bytes).toBe(32 * 1024 + 305);
  });

  test('outside the file', async () => {
    const { url } = place('ok', kFile);
    const source = new HttpSource(url, kQuick);
    await expect(source.read(kSize - 1, kSize + 1)).rejects.toMatchObject({ code: 'truncated' });
    await expect(source.read(-1, 1)).rejects.toBeInstanceOf(RangeError);
    await expect(source.read(2, 1)).rejects.toBeInstanceOf(RangeError);
  });

  test('of an empty file', async () => {
    const source = new HttpSource(place('ok', 'pattern-0.bin').url, kQuick);
    expect(await source.size()).toBe(0);
    expect(await source.read(0, 0)).toEqual(new Uint8Array(0));
  });
});

describe('headers', () => {
  test('a token reaches a gated file and its siblings', async () => {
    const { url } = place('token', kFile);
    const source = new HttpSource(url, { ...kQuick, headers: { authorization: 'Bearer secret' } });
    expect(await source.size()).toBe(kSize);
    expect(await source.sibling('pattern-10.bin').size()).toBe(10);
    await expect(new HttpSource(url, kQuick).size()).rejects.toMatchObject({ code: 'forbidden' });
  });

  test('of a Request', async () => {
    const { url } = place('token', kFile);
    const request = new Request(url, { headers: { authorization: 'Bearer secret' } });
    const source = new HttpSource(request, kQuick);
    expect((await source.read(100_000, 100_010)).length).toBe(10);
    expect(await source.sibling('pattern-10.bin').size()).toBe(10);
  });

  test('a custom fetch is used, and may be anything', async () => {
    const asked: string[] = [];
    const source = new HttpSource('https://example.invalid/pattern-100.bin', {
      ...kQuick,
      fetch: async (input) => {
        asked.push(input as string);
        return new Response(patternBytes(0, 100) as Uint8Array<ArrayBuffer>);
      },
    });
    expect(await source.read(10, 20)).toEqual(patternBytes(10, 20));
    expect(asked).toEqual(['https://example.invalid/pattern-100.bin']);
  });
});

describe('the HTTP cache of a browser', () => {
  test('keeps no ranges, so that a later full request gets the whole file', async () => {
    const { url } = place('cacheable', kFile);
    const source = new HttpSource(url, kQuick);
    await readAll(source);
    expect(equal(new Uint8Array(await (await fetch(url)).arrayBuffer()), patternBytes(0, kSize))).toBe(true);
    const asked: (string | undefined)[] = [];
    const counting: typeof fetch = (input, init) => {
      asked.push(init?.cache);
      return fetch(input, init);
    };
    await readAll(new HttpSource(url, { ...kQuick, fetch: counting }));
    expect(new Set(asked)).toEqual(new Set(['cache' in Request.prototype ? 'no-store' : undefined]));
  });
});

describe('siblings', () => {
  test('a missing one shows in its size', async () => {
    const source = new HttpSource(place('ok', kFile).url, kQuick);
    await expect(source.sibling('nothing.json').size()).rejects.toMatchObject({ code: 'not-found' });
  });

  test.each(['../secret', 'https://example.invalid/x', '/etc/passwd', 'a/../../b', 'c:\\x', ''])(
    'none outside the folder: %s',
    async (name) => {
      const source = new HttpSource(place('ok', kFile).url, kQuick);
      await expect(source.sibling(name).size()).rejects.toMatchObject({ code: 'not-found' });
    },
  );
});

describe('abort', () => {
  const reason = new Error('the user left');

  test.each(['slow', 'stall-always', 'stall-headers', 'no-range'])('during %s', async (behaviour) => {
    const { url, closed } = place(behaviour, `pattern-${50 << 20}.bin`);
    const controller = new AbortController();
    const source = new HttpSource(url, { retryDelay: 5, stallTimeout: 60_000 });
    setTimeout(() => controller.abort(reason), 80);
    const work = async () => {
      for await (const chunk of source.stream(0, 50 << 20, { signal: controller.signal })) {
        if (chunk.length === 0) throw new Error('an empty chunk');
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    };
    const error = await work().then(
      () => undefined,
      (failure: unknown) => failure,
    );
    expect(error).toBe(reason);
    await closed();
  });

  test('one caller’s abort does not fail another’s read', async () => {
    const { url } = place('500', kFile);
    const controller = new AbortController();
    const source = new HttpSource(url, { retryDelay: 60, stallTimeout: 1000 });
    const first = source.size(controller.signal);
    const second = source.size();
    controller.abort(reason);
    await expect(first).rejects.toBe(reason);
    expect(await second).toBe(kSize);
  });

  test('leaving a stream early closes its request', async () => {
    const { url, closed } = place('ok', `pattern-${200 << 20}.bin`);
    const source = new HttpSource(url, kQuick);
    for await (const chunk of source.stream(1 << 20, 200 << 20)) {
      expect(chunk.length).toBeGreaterThan(0);
      break;
    }
    await closed();
  });
});
