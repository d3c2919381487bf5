/**
 * An HTTP file seen through the cache: bytes that are there come from there, gaps are fetched and kept in blocks of
 * 1 MiB. A load that was interrupted leaves its blocks, so the next one goes on where it stopped.
 */
import { EmbeddingError } from '../errors.js';
import type { Entry, EntryName, ModelCache } from '../cache/cache.js';
import { checkRange, collect, isAbsent, notFound } from './checks.js';
import type { HttpSource } from './http.js';
import type { CachedRecipe } from './recipe.js';
import type { Range, ReadOptions, Source, Traffic } from './source.js';
import type { DigestOf } from './verified.js';

export interface CachedOptions {
  /** Never touch the network: what is cached has to do. */
  offline?: boolean;
  /** Digests of whole files; one names its entry, whatever the server says about versions. */
  digestOf?: DigestOf;
  /** The entry, where another thread has found it. */
  entry?: EntryName;
  /** Bytes that may be added to the entry; as many as the cache has room for, where it is left out. */
  room?: number;
  /** Beside the file that a model was opened by: that it is missing is worth to be remembered. */
  isSibling?: boolean;
}

const kBlockBytes = 1 << 20;

export class CachedSource implements Source {
  readonly name: string;
  readonly label: string;
  readonly #inner: HttpSource;
  readonly #cache: ModelCache;
  readonly #options: CachedOptions;
  readonly #siblings: CachedSource[] = [];
  #entry: Promise<Entry> | undefined;
  #found: Entry | undefined;
  // Once the cache refused a block it is not asked again by this load.
  #writable = true;
  #room: number;

  constructor(inner: HttpSource, cache: ModelCache, options: CachedOptions = {}) {
    this.#inner = inner;
    this.#cache = cache;
    this.#options = options;
    this.#room = options.room ?? Infinity;
    this.name = inner.name;
    this.label = inner.label;
  }

  get parallel(): number {
    return this.#inner.parallel;
  }

  get atHand(): number {
    const cached = this.#found?.extents.covering(0)?.end ?? 0;
    return Math.max(cached, this.#inner.atHand);
  }

  get traffic(): Traffic {
    return this.#inner.traffic;
  }

  count(traffic: Traffic): void {
    this.#inner.count(traffic);
  }

  async size(signal?: AbortSignal): Promise<number> {
    return (await this.#open(signal)).meta.size;
  }

  async read(start: number, end: number, options: ReadOptions = {}): Promise<Uint8Array> {
    checkRange(this.label, start, end, await this.size(options.signal));
    return collect(this.stream(start, end, options), end - start);
  }

  async *stream(start: number, end: number, options: ReadOptions = {}): AsyncIterable<Uint8Array> {
    const entry = await this.#open(options.signal);
    checkRange(this.label, start, end, entry.meta.size);
    let at = start;
    while (at < end) {
      options.signal?.throwIfAborted();
      const block = entry.extents.covering(at);
      const chunk = block && (await this.#cache.read(entry, block, at, Math.min(block.end, end)));
      if (chunk) {
        this.#inner.counters.cached += chunk.length;
        at += chunk.length;
        yield chunk;
      } else if (block) {
        // Another tab or process has cleared the cache.
        entry.extents.remove(block);
      } else {
        const gapEnd = entry.extents.gapEnd(at, end);
        yield* this.#fetch(entry, at, gapEnd, options);
        at = gapEnd;
      }
    }
  }

  async readRanges(ranges: readonly Range[], options: ReadOptions = {}): Promise<Uint8Array[]> {
    const { extents } = await this.#open(options.signal);
    const missing = ranges.filter(({ start, end }) => !extents.covers(start, end));
    for (const { start, end } of missing.slice(0, this.#options.offline ? 1 : 0))
      throw this.#offline(start, end);
    const fetched = missing.length > 0 ? await this.#inner.readRanges(missing, options) : [];
    const parts = new Map(missing.map((range, i) => [range, fetched[i]!]));
    return Promise.all(
      ranges.map(async (range) => parts.get(range) ?? this.read(range.start, range.end, options)),
    );
  }

  sibling(name: string): Source {
    const inner = this.#inner.sibling(name);
    if (!('counters' in inner)) return inner;
    const sibling = new CachedSource(inner as HttpSource, this.#cache, {
      ...this.#options,
      isSibling: true,
    });
    this.#siblings.push(sibling);
    return sibling;
  }

  /** The digest that was checked when the file was read before, if it is all here. */
  async verified(signal?: AbortSignal): Promise<string | undefined> {
    const { meta, extents } = await this.#open(signal);
    return extents.covers(0, meta.size) ? meta.integrity : undefined;
  }

  /** Notes that the whole file has the digest that was asked for. */
  async markVerified(integrity: string): Promise<void> {
    if (this.#entry) await this.#cache.touch(await this.#entry, integrity);
  }

  async recipe(bytes: number, signal?: AbortSignal): Promise<CachedRecipe | undefined> {
    const { offline = false } = this.#options;
    const { key, meta, extents } = await this.#open(signal);
    const inner = await this.#inner.recipe();
    if (!inner) return undefined;
    const { size } = meta;
    const missing = offline || extents.covers(0, size) ? 0 : Math.min(bytes, size - extents.bytes());
    const granted = this.#writable ? await this.#cache.reserve(key, missing) : 0;
    const room = this.#writable && granted === missing ? Infinity : granted;
    return { kind: 'cached', inner, folder: this.#cache.folder, entry: { key, meta }, offline, room };
  }

  async discard(): Promise<void> {
    this.#writable = false;
    const entry = await this.#entry?.catch(() => undefined);
    if (entry) await this.#cache.discard(entry);
    await Promise.all(this.#siblings.map((sibling) => sibling.discard()));
  }

  close(): void {
    for (const sibling of this.#siblings) sibling.close();
    this.#inner.close();
  }

  async *#fetch(entry: Entry, start: number, end: number, options: ReadOptions): AsyncIterable<Uint8Array> {
    if (this.#options.offline) throw this.#offline(start, end);
    if (options.store === false || !this.#writable) {
      yield* this.#inner.stream(start, end, options);
      return;
    }
    const block = new Uint8Array(Math.min(kBlockBytes, end - start));
    let blockStart = start;
    let filled = 0;
    const flush = async (): Promise<void> => {
      if (filled === 0 || !this.#writable) return;
      this.#room -= filled;
      this.#writable =
        this.#room >= 0 && (await this.#cache.write(entry, blockStart, block.subarray(0, filled)));
      blockStart += filled;
      filled = 0;
    };
    try {
      for await (const chunk of this.#inner.stream(start, end, options)) {
        for (let used = 0; used < chunk.length && this.#writable;) {
          const part = chunk.subarray(used, used + block.length - filled);
          block.set(part, filled);
          filled += part.length;
          used += part.length;
          if (filled === block.length) await flush();
        }
        yield chunk;
      }
    } finally {
      // Also after an abort or a failure: what has come need not come again.
      await flush();
    }
  }

  async #open(signal?: AbortSignal): Promise<Entry> {
    while (true) {
      signal?.throwIfAborted();
      const own = !this.#entry;
      const opening = (this.#entry ??= this.#find(signal));
      try {
        return (this.#found = await opening);
      } catch (error) {
        if (this.#entry === opening) this.#entry = undefined;
        // Where another caller's abort ended the shared look-up, this caller starts its own.
        if (own || error instanceof EmbeddingError) throw error;
      }
    }
  }

  async #find(signal?: AbortSignal): Promise<Entry> {
    const { offline, entry } = this.#options;
    if (entry) return this.#cache.resume(entry);
    const integrity = this.#options.digestOf?.(this.name);
    const known = await this.#cache.find(this.label, integrity);
    if (known?.meta.missing && offline) throw notFound(this.label);
    if (known && (offline || integrity !== undefined)) return this.#use(known);
    if (offline) {
      throw new EmbeddingError(
        'offline',
        `${this.label} is not in the cache, and \`offline\` forbids to fetch it: load it once without.`,
      );
    }
    try {
      const validators = await this.#inner.validators(signal);
      return await this.#use(await this.#cache.open(this.label, validators, validators.size!, integrity));
    } catch (error) {
      if (this.#options.isSibling && isAbsent(error)) await this.#cache.noteMissing(this.label);
      if (!known || !isOutOfReach(error)) throw error;
      if (known.meta.missing) throw notFound(this.label, error);
      return this.#use(known);
    }
  }

  async #use(entry: Entry): Promise<Entry> {
    await this.#cache.touch(entry);
    return entry;
  }

  #offline(start: number, end: number): EmbeddingError {
    return new EmbeddingError(
      'offline',
      `Bytes ${start} to ${end} of ${this.label} are not in the cache, and \`offline\` forbids to fetch them: load ` +
        `it once without.`,
    );
  }
}

// Without a network the cached version is the best there is; a server that says no is another matter.
function isOutOfReach(error: unknown): boolean {
  return error instanceof EmbeddingError && (error.code === 'network' || error.code === 'stalled');
}
