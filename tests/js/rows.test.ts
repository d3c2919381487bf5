/** Rows fetched one by one: what they cost, and that they are right. */
import { describe, expect, test } from 'vitest';
import { RowCache } from '../../bindings/js/residency/row_cache.js';
import { joinPieces, RowFetcher } from '../../bindings/js/residency/row_fetcher.js';
import { RowLayout } from '../../bindings/js/residency/row_layout.js';
import { BufferSource } from '../../bindings/js/sources/buffer.js';
import { patternBytes } from './faults/content.js';

const never = new AbortController().signal;
const bytes = patternBytes(0, 10_000);

function fetcher(layout: RowLayout, cacheBytes = 1000) {
  const cache = new RowCache(cacheBytes);
  return { cache, fetcher: new RowFetcher(layout, cache, () => new BufferSource(bytes), never) };
}

describe('layout', () => {
  test('a row may cross segments and files', () => {
    const layout = new RowLayout(
      [
        { file: 0, offset: 100, bytes: 25, plane: 0, target: 0 },
        { file: 1, offset: 7, bytes: 15, plane: 0, target: 25 },
      ],
      4,
    );
    expect(layout.rowBytes).toBe(10);
    expect(layout.pieces(0)).toEqual([{ file: 0, start: 100, end: 110, at: 0 }]);
    expect(layout.pieces(2)).toEqual([
      { file: 0, start: 120, end: 125, at: 0 },
      { file: 1, start: 7, end: 12, at: 5 },
    ]);
    expect(layout.pieces(3)).toEqual([{ file: 1, start: 12, end: 22, at: 0 }]);
  });

  test('planes of a row lie one behind the other', () => {
    const layout = new RowLayout(
      [
        { file: 0, offset: 0, bytes: 64, plane: 0, target: 0 },
        { file: 0, offset: 500, bytes: 8, plane: 1, target: 0 },
        { file: 0, offset: 600, bytes: 4, plane: 2, target: 0 },
      ],
      4,
    );
    expect(layout.planeBytes).toEqual([16, 2, 1]);
    expect(layout.pieces(3)).toEqual([
      { file: 0, start: 48, end: 64, at: 0 },
      { file: 0, start: 506, end: 508, at: 16 },
      { file: 0, start: 603, end: 604, at: 18 },
    ]);
  });
});

describe('joining', () => {
  const at = (start: number, end: number) => ({ id: start, piece: { file: 0, start, end, at: 0 } });

  test('near pieces become one range, far ones stay apart', () => {
    const runs = joinPieces([at(90_000, 90_100), at(100, 200), at(200, 300), at(4000, 4100)]);
    expect(runs.map(({ start, end }) => [start, end])).toEqual([
      [100, 4100],
      [90_000, 90_100],
    ]);
  });
});

describe('fetching', () => {
  const layout = new RowLayout([{ file: 0, offset: 50, bytes: 9000, plane: 0, target: 0 }], 90);
  const row = (id: number) => bytes.slice(50 + id * 100, 150 + id * 100);

  test('rows come in the order asked for, repeated ones too', async () => {
    const { fetcher: rows } = fetcher(layout);
    expect(await rows.rows([5, 89, 5, 0])).toEqual([row(5), row(89), row(5), row(0)]);
  });

  test('calls at the same time share one request; later ones the cache', async () => {
    let requests = 0;
    const source = new BufferSource(bytes);
    const read = source.read.bind(source);
    source.read = (...args) => {
      requests += 1;
      return read(...args);
    };
    const cache = new RowCache(1000);
    const rows = new RowFetcher(layout, cache, () => source, never);
    const all = await Promise.all([rows.rows([1, 2]), rows.rows([2, 3]), rows.rows([4])]);
    expect(all).toEqual([[row(1), row(2)], [row(2), row(3)], [row(4)]]);
    expect(requests).toBe(1);
    expect(await rows.rows([1, 4])).toEqual([row(1), row(4)]);
    expect(requests).toBe(1);
    expect(cache.counts).toEqual({ hits: 2, misses: 4 });
  });

  test('a failure reaches every caller, and the next call tries again', async () => {
    let fails = true;
    const source = new BufferSource(bytes);
    const read = source.read.bind(source);
    source.read = (...args) => (fails ? Promise.reject(new Error('no line')) : read(...args));
    const rows = new RowFetcher(layout, new RowCache(1000), () => source, never);
    const both = await Promise.allSettled([rows.rows([1]), rows.rows([1, 2])]);
    expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    fails = false;
    expect(await rows.rows([1])).toEqual([row(1)]);
  });

  test('the cache holds what was used last, within its bytes', async () => {
    const { fetcher: rows, cache } = fetcher(layout, 350);
    await rows.rows([1, 2, 3]);
    await rows.rows([1]);
    await rows.rows([4]);
    expect([cache.rows, cache.bytes]).toEqual([3, 300]);
    await rows.rows([1, 3, 4]);
    expect(cache.counts).toEqual({ hits: 4, misses: 4 });
    await rows.rows([2]);
    expect(cache.counts).toEqual({ hits: 4, misses: 5 });
  });

  test('rows larger than the cache are handed out all the same', async () => {
    const { fetcher: rows, cache } = fetcher(layout, 50);
    expect(await rows.rows([7, 8])).toEqual([row(7), row(8)]);
    expect(cache.bytes).toBe(0);
  });
});
