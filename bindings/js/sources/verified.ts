/**
 * Checks the SHA-256 of a whole file while it is read. The file is read forwards once, everything that passes is
 * hashed, and reads take what they want of it; `finish` reads the rest and compares.
 *
 * A read that goes back starts over. So that the bytes handed out before are vouched for as well, the digest of
 * what the earlier pass had seen is kept, and the new pass must have the same one at the same place.
 */
import { EmbeddingError } from '../errors.js';
import { createHasher } from '../cache/sha256.js';
import type { Hasher } from '../cache/sha256.js';
import { checkRange, collect } from './checks.js';
import { Prefix } from './prefix.js';
import type { Recipe } from './recipe.js';
import type { Range, ReadOptions, Source, Traffic } from './source.js';

/** A source that remembers checked digests (the cache). */
interface Remembers {
  verified(signal?: AbortSignal): Promise<string | undefined>;
  markVerified(integrity: string): Promise<void>;
}

/** The digest that a file must have, by its name; undefined for a file that is not checked. */
export type DigestOf = (name: string) => string | undefined;

interface Pass {
  at: number;
  hasher: Hasher;
}

interface Checkpoint {
  at: number;
  digest: Uint8Array;
}

// Headers are looked at more than once.
const kPrefixBytes = 4 << 20;

export class VerifiedSource implements Source {
  readonly name: string;
  readonly label: string;
  readonly #inner: Source & Partial<Remembers>;
  readonly #digestOf: DigestOf;
  readonly #integrity: string | undefined;
  readonly #siblings: VerifiedSource[] = [];
  readonly #prefix = new Prefix(kPrefixBytes);
  readonly #checkpoints: Checkpoint[] = [];
  #pass: Pass | undefined;
  #trusted: boolean | undefined;
  #turn: Promise<unknown> = Promise.resolve();

  /** @throws {TypeError} for a digest that is no `sha256-` and 44 characters of base64. */
  constructor(inner: Source, digestOf: DigestOf) {
    this.#inner = inner;
    this.#digestOf = digestOf;
    this.#integrity = digestOf(inner.name);
    if (this.#integrity === undefined) this.#trusted = true;
    else parseIntegrity(this.#integrity);
    this.name = inner.name;
    this.label = inner.label;
  }

  get parallel(): number {
    // A hash has one order.
    return this.#trusted ? this.#inner.parallel : 1;
  }

  get atHand(): number | undefined {
    return this.#inner.atHand;
  }

  get traffic(): Traffic | undefined {
    return this.#inner.traffic;
  }

  count(traffic: Traffic): void {
    this.#inner.count?.(traffic);
  }

  size(signal?: AbortSignal): Promise<number> {
    return this.#inner.size(signal);
  }

  async read(start: number, end: number, options: ReadOptions = {}): Promise<Uint8Array> {
    checkRange(this.label, start, end, await this.size(options.signal));
    return collect(this.stream(start, end, options), end - start);
  }

  async *stream(start: number, end: number, options: ReadOptions = {}): AsyncIterable<Uint8Array> {
    checkRange(this.label, start, end, await this.size(options.signal));
    if (await this.#isTrusted(options.signal)) {
      yield* this.#inner.stream(start, end, options);
      return;
    }
    const release = await this.#takeTurn();
    try {
      const known = this.#prefix.slice(start, end);
      if (known.length > 0) yield known;
      yield* this.#hashed(start + known.length, end, options);
    } finally {
      release();
    }
  }

  sibling(name: string): Source {
    const sibling = new VerifiedSource(this.#inner.sibling(name), this.#digestOf);
    this.#siblings.push(sibling);
    return sibling;
  }

  async finish(signal?: AbortSignal): Promise<void> {
    await this.#finishOwn(signal);
    for (const sibling of this.#siblings) await sibling.finish(signal);
  }

  async #finishOwn(signal?: AbortSignal): Promise<void> {
    if (await this.#isTrusted(signal)) return;
    const size = await this.size(signal);
    const release = await this.#takeTurn();
    try {
      for await (const chunk of this.#hashed(this.#pass?.at ?? 0, size, { signal })) void chunk;
      if (!same(this.#pass!.hasher.peek(), parseIntegrity(this.#integrity!))) throw await this.#mismatch();
      await this.#inner.markVerified?.(this.#integrity!);
      this.#trusted = true;
    } finally {
      release();
    }
  }

  async readRanges(ranges: readonly Range[], options: ReadOptions = {}): Promise<Uint8Array[]> {
    if ((await this.#isTrusted(options.signal)) && this.#inner.readRanges) {
      return this.#inner.readRanges(ranges, options);
    }
    const parts: Uint8Array[] = [];
    for (const { start, end } of ranges) parts.push(await this.read(start, end, options));
    return parts;
  }

  /** None while the digest is still to be checked: it takes one reader, who reads everything. */
  async recipe(bytes: number, signal?: AbortSignal): Promise<Recipe | undefined> {
    return (await this.#isTrusted(signal)) ? this.#inner.recipe?.(bytes, signal) : undefined;
  }

  discard(): Promise<void> {
    return this.#inner.discard?.() ?? Promise.resolve();
  }

  close(): void | Promise<void> {
    return this.#inner.close?.();
  }

  async *#hashed(start: number, end: number, options: ReadOptions): AsyncIterable<Uint8Array> {
    if (start >= end && this.#pass) return;
    const pass = await this.#passAt(start);
    for await (const chunk of this.#inner.stream(pass.at, end, options)) {
      const wanted = chunk.subarray(Math.max(0, start - pass.at));
      this.#prefix.add(pass.at, chunk);
      await this.#hash(pass, chunk);
      if (wanted.length > 0) yield wanted;
    }
  }

  async #hash(pass: Pass, chunk: Uint8Array): Promise<void> {
    let used = 0;
    for (
      let next = this.#checkpoints[0];
      next && next.at <= pass.at + chunk.length - used;
      next = this.#checkpoints[0]
    ) {
      const part = chunk.subarray(used, used + next.at - pass.at);
      this.#add(pass, part);
      used += part.length;
      if (!same(pass.hasher.peek(), next.digest)) throw await this.#mismatch();
      this.#checkpoints.shift();
    }
    this.#add(pass, chunk.subarray(used));
  }

  #add(pass: Pass, bytes: Uint8Array): void {
    pass.hasher.update(bytes);
    pass.at += bytes.length;
  }

  /** The pass that can still reach `start`: the current one, or a new one from the beginning. */
  async #passAt(start: number): Promise<Pass> {
    if (this.#pass && this.#pass.at <= start) return this.#pass;
    if (this.#pass) {
      this.#checkpoints.push({ at: this.#pass.at, digest: this.#pass.hasher.peek() });
      this.#checkpoints.sort((a, b) => a.at - b.at);
    }
    return (this.#pass = { at: 0, hasher: await createHasher() });
  }

  async #isTrusted(signal?: AbortSignal): Promise<boolean> {
    this.#trusted ??= (await this.#inner.verified?.(signal)) === this.#integrity;
    return this.#trusted;
  }

  /** Reads share one pass, so each waits for the one before. */
  async #takeTurn(): Promise<() => void> {
    let release!: () => void;
    const before = this.#turn;
    this.#turn = new Promise<void>((resolve) => (release = resolve));
    await before;
    return release;
  }

  async #mismatch(): Promise<EmbeddingError> {
    await this.#inner.discard?.();
    const got = this.#pass ? `sha256-${toBase64(this.#pass.hasher.peek())}` : 'another one';
    return new EmbeddingError(
      'integrity',
      `${this.label} has not the digest ${this.#integrity} but ${got}: it is damaged, or another version.`,
    );
  }
}

function parseIntegrity(integrity: string): Uint8Array {
  const match = /^sha256-([A-Za-z0-9+/]{43}=)$/.exec(integrity);
  if (!match) {
    throw new TypeError(`integrity is ${JSON.stringify(integrity)}, not sha256- and a digest in base64`);
  }
  return Uint8Array.from(atob(match[1]!), (char) => char.charCodeAt(0));
}

function toBase64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes));
}

function same(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}
