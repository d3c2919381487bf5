/**
 * A file behind a URL. What the server can do shows in the first answer (probe.ts). A read that breaks off is
 * continued at the byte where it broke, after checking that the file is still the same one. `If-Range` would let
 * the server check that, but may cost a CORS preflight; comparing the validators of the answers does the same.
 */
import { EmbeddingError } from '../errors.js';
import { lazy } from '../lazy.js';
import type { Answer, Validators } from './answer.js';
import { MissingSource } from './buffer.js';
import { baseName, checkRange, collect, isSafeSibling } from './checks.js';
import type { Client, Connection, Counters } from './connection.js';
import { ForwardReader } from './forward.js';
import { HttpFile } from './http_file.js';
import { probe } from './probe.js';
import { Prefix } from './prefix.js';
import type { Probed } from './probe.js';
import type { RangeReader } from './ranges.js';
import type { HttpRecipe } from './recipe.js';
import { release } from './release.js';
import { Attempts, Transient } from './retry.js';
import type { RetryOptions } from './retry.js';
import { addTraffic } from './source.js';
import type { Range, ReadOptions, Source, Traffic } from './source.js';
import { brokenOff } from './status.js';

export interface HttpOptions extends RetryOptions {
  /** Used instead of the global `fetch`. */
  fetch?: typeof fetch;
  /** Sent with every request: `{ authorization: 'Bearer …' }` for gated files. */
  headers?: HeadersInit;
  /** `false`: never ask for ranges (servers and proxies that mishandle them). Default `true`. */
  range?: boolean;
}

const kParallel = 4;

/** What a source shares with its siblings, or knows from another thread. */
export interface HttpContext {
  client?: Client;
  /** The version of the file, where it is known, on a server that has ranges. */
  version?: Validators;
}

export class HttpSource implements Source {
  readonly name: string;
  readonly label: string;
  readonly #file: HttpFile;
  readonly #options: HttpOptions;
  #ranges: Promise<RangeReader> | undefined;
  readonly #siblings: HttpSource[] = [];
  #probing: Promise<Probed> | undefined;
  #probed: Probed | undefined;

  constructor(target: string | Request, options: HttpOptions = {}, context: HttpContext = {}) {
    if (typeof target !== 'string' && target.method !== 'GET') {
      throw new TypeError(`A Request to load from must be a GET, and not a ${target.method}`);
    }
    this.#options = options;
    this.#file = new HttpFile(target, context.client ?? makeClient(options));
    this.label = this.#file.url;
    this.name = baseName(new URL(this.label).pathname) || 'model';
    if (context.version?.size !== undefined) {
      this.#file.validators = { ...context.version };
      this.#probed = { size: context.version.size, prefix: new Prefix(0) };
      this.#probing = Promise.resolve(this.#probed);
    }
  }

  get parallel(): number {
    return this.#options.range === false || this.#probed?.forward || this.#probed?.spool ? 1 : kParallel;
  }

  get atHand(): number {
    return this.#probed?.prefix.length ?? 0;
  }

  get traffic(): Traffic {
    return this.counters;
  }

  /** @internal Shared with all siblings. */
  get counters(): Counters {
    return this.#file.client.counters;
  }

  count(traffic: Traffic): void {
    addTraffic(this.counters, traffic);
  }

  async size(signal?: AbortSignal): Promise<number> {
    return (await this.#probe(signal)).size;
  }

  /** Which version of the file this is. */
  async validators(signal?: AbortSignal): Promise<Validators> {
    await this.#probe(signal);
    return { ...this.#file.validators };
  }

  async read(start: number, end: number, options: ReadOptions = {}): Promise<Uint8Array> {
    checkRange(this.label, start, end, await this.size(options.signal));
    return collect(this.stream(start, end, options), end - start);
  }

  async *stream(start: number, end: number, options: ReadOptions = {}): AsyncIterable<Uint8Array> {
    const { signal } = options;
    const { size, prefix, spool } = await this.#probe(signal);
    checkRange(this.label, start, end, size);
    signal?.throwIfAborted();
    if (spool) {
      yield new Uint8Array(await spool.slice(start, end).arrayBuffer());
      return;
    }
    const known = prefix.slice(start, end);
    if (known.length > 0) yield known;
    yield* this.#streamWithRetries(start + known.length, end, signal);
  }

  async readRanges(ranges: readonly Range[], options: ReadOptions = {}): Promise<Uint8Array[]> {
    const { size, prefix } = await this.#probe(options.signal);
    for (const { start, end } of ranges) checkRange(this.label, start, end, size);
    const readOne = (range: Range) => this.read(range.start, range.end, options);
    const far = ranges.filter(({ end }) => end > prefix.length);
    const read =
      this.parallel > 1
        ? await (await this.#rangeReader()).read(far, readOne, () => this.parallel, options.signal)
        : await readInOrder(far, readOne);
    let next = 0;
    return ranges.map(({ start, end }) => (end > prefix.length ? read[next++]! : prefix.slice(start, end)));
  }

  #rangeReader(): Promise<RangeReader> {
    this.#ranges ??= lazy('reading rows', () => import('./ranges.js')).then(
      ({ RangeReader: Reader }) => new Reader(this.#file),
      (error: unknown) => {
        this.#ranges = undefined; // the next call tries again
        throw error;
      },
    );
    return this.#ranges;
  }

  sibling(name: string): Source {
    if (!isSafeSibling(name)) return new MissingSource(name, `outside the folder of ${this.label}`);
    const { target, client } = this.#file;
    const url = siblingUrl(this.label, name);
    const sibling = new HttpSource(
      typeof target === 'string' ? url : new Request(url, target),
      this.#options,
      { client },
    );
    this.#siblings.push(sibling);
    return sibling;
  }

  /** None for a Request (its mode and credentials are this thread's) or a custom fetch. */
  async recipe(): Promise<HttpRecipe | undefined> {
    const { target, client, validators } = this.#file;
    if (typeof target !== 'string' || this.#options.fetch || this.parallel === 1) return undefined;
    const { retries, retryDelay, stallTimeout } = this.#options;
    return {
      kind: 'http',
      url: target,
      headers: [...client.headers],
      retry: { retries, retryDelay, stallTimeout },
      ...(this.#probed && validators && { version: { ...validators } }),
    };
  }

  close(): void {
    for (const sibling of this.#siblings.splice(0)) sibling.close();
    this.#file.close();
    this.#probed = undefined;
    this.#probing = undefined;
  }

  async *#streamWithRetries(start: number, end: number, signal?: AbortSignal): AsyncIterable<Uint8Array> {
    const attempts = new Attempts(this.#options);
    let at = start;
    while (at < end) {
      try {
        for await (const chunk of this.#continue(at, end, signal)) {
          at += chunk.length;
          attempts.progress();
          yield chunk;
        }
      } catch (failure) {
        await this.#retry(attempts, failure, true, signal);
      }
    }
  }

  /** Bytes from `at` on, by whatever means the server offers; may end before `end`, or fail as Transient. */
  async *#continue(at: number, end: number, signal?: AbortSignal): AsyncIterable<Uint8Array> {
    const probed = await this.#probe(signal);
    if (!probed.forward) {
      const wanted = { start: at, end };
      const { connection, answer } = await this.#file.get(wanted, signal);
      if (!answer.whole) {
        yield* this.#body(connection, answer, wanted);
        return;
      }
      // A server that has changed its mind about ranges: the whole file is coming, so it is used.
      probed.forward = new ForwardReader(this.#file, probed.prefix);
      probed.forward.start(connection);
    }
    yield* probed.forward.read(at, end, signal);
  }

  async *#body(connection: Connection, answer: Answer, wanted: Range): AsyncIterable<Uint8Array> {
    let at = answer.first;
    try {
      for (let chunk = await connection.next(); chunk; chunk = await connection.next()) {
        const part = chunk.subarray(Math.max(0, wanted.start - at), Math.max(0, wanted.end - at));
        at += chunk.length;
        if (part.length > 0) yield part;
        if (this.#file.client.ownsChunks) release(chunk);
        if (at >= wanted.end) return;
      }
    } finally {
      this.#file.drop(connection);
    }
    // A server may answer with less than was asked for, if it says so: the rest is asked for next.
    if (at !== answer.end) throw new Transient(brokenOff(this.label, at));
  }

  async #probe(signal?: AbortSignal): Promise<Probed> {
    while (true) {
      signal?.throwIfAborted();
      const own = !this.#probing;
      const probing = (this.#probing ??= this.#probeWithRetries(signal));
      try {
        return (this.#probed = await probing);
      } catch (error) {
        if (this.#probing === probing) this.#probing = undefined;
        // Where another caller's abort ended the shared request, this caller starts its own.
        if (own || error instanceof EmbeddingError) throw error;
      }
    }
  }

  async #probeWithRetries(signal?: AbortSignal): Promise<Probed> {
    const attempts = new Attempts(this.#options);
    let answered = false;
    while (true) {
      try {
        return await probe(this.#file, this.#options.range !== false, signal);
      } catch (failure) {
        answered ||= failure instanceof Transient && failure.error.code === 'http';
        await this.#retry(attempts, failure, answered, signal);
      }
    }
  }

  async #retry(attempts: Attempts, failure: unknown, answered: boolean, signal?: AbortSignal): Promise<void> {
    await attempts.again(failure, answered, signal);
    this.#file.client.counters.retries += 1;
  }
}

async function readInOrder(
  ranges: readonly Range[],
  readOne: (range: Range) => Promise<Uint8Array>,
): Promise<Uint8Array[]> {
  const parts = new Array<Uint8Array>(ranges.length);
  const order = ranges.map((_, i) => i).sort((a, b) => ranges[a]!.start - ranges[b]!.start);
  for (const i of order) parts[i] = await readOne(ranges[i]!);
  return parts;
}

function makeClient(options: HttpOptions): Client {
  return {
    fetch: options.fetch ?? ((input, init) => globalThis.fetch(input, init)),
    headers: new Headers(options.headers),
    ownsChunks: options.fetch === undefined,
    stallTimeout: options.stallTimeout ?? 30_000,
    counters: { bytes: 0, requests: 0, retries: 0, cached: 0 },
  };
}

/** The query stays: it often carries the permission to read (signed URLs, tokens). */
function siblingUrl(url: string, name: string): string {
  const sibling = new URL(name.split('/').map(encodeURIComponent).join('/'), url);
  sibling.search = new URL(url).search;
  return sibling.href;
}
