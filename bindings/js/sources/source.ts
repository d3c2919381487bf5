/**
 * Where bytes come from. A header reader and a loader see nothing but this: a name, a size and ranges of bytes.
 *
 *   HTTP(S) · hf:// · path (Node, Deno, Bun) · Blob, File, dropped folder · buffer · a caller's own ByteSource
 *
 * Offsets and sizes are plain numbers (exact up to 2⁵³) and count bytes; a range is [start, end).
 */

import type { Recipe } from './recipe.js';

/** Options of a single read. */
export interface ReadOptions {
  /** Aborting rejects with the signal's reason and leaves no request open. */
  signal?: AbortSignal;
  /** `false`: do not write these bytes to the persistent cache (small, scattered reads). Default `true`. */
  store?: boolean;
}

export interface Range {
  start: number;
  end: number;
}

export interface Source {
  /** The last part of the path, without query: `model.gguf`. Siblings are named relative to its folder. */
  readonly name: string;
  /** What error messages call it: the whole URL or path. */
  readonly label: string;
  /**
   * How many ranges may usefully be read at the same time. 1 for a server that ignores Range: there, ranges are
   * best read in ascending order, because going back means downloading again. May change after the first read.
   */
  readonly parallel: number;

  /**
   * Bytes from the file's start that can be read without asking anybody, once its size is known: the answer that
   * told the size, or what the cache holds. Absent where every byte costs the same.
   */
  readonly atHand?: number;

  /** Size of the file in bytes. Rejects with code `not-found` where there is no such file. */
  size(signal?: AbortSignal): Promise<number>;

  /** Exactly `end - start` bytes; rejects with code `truncated` where the file ends before `end`. */
  read(start: number, end: number, options?: ReadOptions): Promise<Uint8Array>;

  /**
   * The same bytes in order, in chunks of any size. A chunk is valid only until the next one is asked for (its
   * memory may be reused). Leaving the loop early closes what was open.
   */
  stream(start: number, end: number, options?: ReadOptions): AsyncIterable<Uint8Array>;

  /** Several ranges at once, in the order asked for; where a server can, in one request. */
  readRanges?(ranges: readonly Range[], options?: ReadOptions): Promise<Uint8Array[]>;

  /**
   * A file beside this one (`model-00002-of-00003.safetensors`, `config.json`), opened with the same options.
   * Returns at once; a file that is missing shows when its size is asked for.
   */
  sibling(name: string): Source;

  /**
   * The loader calls it once, when it has read all it wants and before it hands the model out: a source with
   * `integrity` reads the rest, and rejects with code `integrity` if the digest of the whole file is another.
   */
  finish?(signal?: AbortSignal): Promise<void>;

  /** The loader calls it when the content turned out to be unusable: nothing of it stays in the cache. */
  discard?(): Promise<void>;

  /**
   * How another thread reads the same file by itself; undefined where only this one can. `bytes`: about how many will
   * be read there.
   */
  recipe?(bytes: number, signal?: AbortSignal): Promise<Recipe | undefined>;

  /** Bytes that came over the network so far, and requests made; absent for local sources. */
  readonly traffic?: Traffic;

  /** Counts what other threads have read by the recipe. */
  count?(traffic: Traffic): void;

  /** Closes handles and open requests. Idempotent. The source must not be used afterwards. */
  close?(): void | Promise<void>;
}

/** What a network source has cost so far. */
export interface Traffic {
  /** Bytes of response bodies. */
  readonly bytes: number;
  readonly requests: number;
  /** Requests that had to be repeated. */
  readonly retries: number;
  /** Bytes that came out of the persistent cache instead. */
  readonly cached: number;
}

export function addTraffic(sum: { -readonly [K in keyof Traffic]: number }, more: Partial<Traffic>): void {
  sum.bytes += more.bytes ?? 0;
  sum.requests += more.requests ?? 0;
  sum.retries += more.retries ?? 0;
  sum.cached += more.cached ?? 0;
}

/**
 * A caller's own source: `{ byteLength, slice }` is enough. `slice` follows `Blob.slice` and
 * `ArrayBuffer.slice`: [start, end) in bytes.
 */
export interface ByteSource {
  readonly byteLength: number;
  slice(start: number, end: number): ArrayBuffer | Uint8Array | Promise<ArrayBuffer | Uint8Array>;
  /** `model.safetensors.index.json`, where the file's own name matters. Default `model`. */
  readonly name?: string;
  /** A file beside this one; `undefined` where there is none. */
  sibling?(name: string): ByteSource | undefined | Promise<ByteSource | undefined>;
}

/** Anything that a model can be loaded from. */
export type SourceLike =
  string | URL | Request | Blob | readonly File[] | FileList | ArrayBuffer | Uint8Array | ByteSource;
