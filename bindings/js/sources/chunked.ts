import { EmbeddingError } from '../errors.js';
import { checkRange, notFound } from './checks.js';
import { abortable } from './abort.js';
import { release } from './release.js';
import { hasFileSystem, isNode } from './node.js';
import type { BlobRecipe } from './recipe.js';
import type { ByteSource, ReadOptions, Source } from './source.js';

// Large enough to be quick, small enough that a load's peak stays within a few megabytes of its table.
const kChunkBytes = 1 << 20;

/** A source made of `slice` calls: a Blob, or a caller's own ByteSource. */
export class ChunkedSource implements Source {
  readonly name: string;
  readonly label: string;
  readonly parallel = 1;
  readonly #source: Promise<ByteSource | undefined>;

  /** `ownsSlices`: what `slice` gives is nobody else's, as with a Blob. */
  constructor(
    source: ByteSource | Promise<ByteSource | undefined>,
    name: string,
    private readonly ownsSlices = false,
  ) {
    this.name = name;
    this.label = name;
    this.#source = Promise.resolve(source);
    // A rejection is reported by the first call that needs the source, not as an unhandled one.
    this.#source.catch(() => undefined);
  }

  async size(signal?: AbortSignal): Promise<number> {
    const { byteLength } = await this.#open(signal);
    if (!Number.isSafeInteger(byteLength) || byteLength < 0) {
      throw new TypeError(`byteLength of ${this.label} is ${byteLength}, not a count of bytes`);
    }
    return byteLength;
  }

  async read(start: number, end: number, options: ReadOptions = {}): Promise<Uint8Array> {
    const source = await this.#open(options.signal);
    checkRange(this.label, start, end, source.byteLength);
    const slice = await abortable(Promise.resolve(source.slice(start, end)), options.signal);
    const bytes = slice instanceof Uint8Array ? slice : new Uint8Array(slice);
    if (bytes.length === end - start) return bytes;
    throw new EmbeddingError(
      'truncated',
      `${this.label} gave ${bytes.length} bytes for slice(${start}, ${end}): it must give ${end - start}.`,
    );
  }

  async *stream(start: number, end: number, options: ReadOptions = {}): AsyncIterable<Uint8Array> {
    const source = await this.#open(options.signal);
    if (source instanceof BlobBytes && isNode()) {
      checkRange(this.label, start, end, source.byteLength);
      yield* source.stream(start, end, options.signal);
      return;
    }
    for (let at = start; at < end; at += kChunkBytes) {
      const chunk = await this.read(at, Math.min(at + kChunkBytes, end), options);
      yield chunk;
      if (this.ownsSlices) release(chunk);
    }
  }

  /** Of a Blob in a browser, which all threads may read; Node and Deno cannot send every Blob. */
  async recipe(): Promise<BlobRecipe | undefined> {
    const source = await this.#source;
    if (!(source instanceof BlobBytes) || hasFileSystem()) return undefined;
    return { kind: 'blob', blob: source.blob, name: this.name };
  }

  sibling(name: string): Source {
    return new ChunkedSource(
      this.#source.then((source) => source?.sibling?.(name)),
      name,
      this.ownsSlices,
    );
  }

  async #open(signal?: AbortSignal): Promise<ByteSource> {
    const source = await abortable(this.#source, signal);
    if (source === undefined) throw notFound(this.label);
    return source;
  }
}

/** A Blob or File as a ByteSource; Deno's and Bun's file objects are Blobs, too. */
export function blobBytes(blob: Blob, name: string, sibling?: ByteSource['sibling']): ByteSource {
  return new BlobBytes(blob, name, sibling);
}

class BlobBytes implements ByteSource {
  constructor(
    readonly blob: Blob,
    readonly name: string,
    readonly sibling: ByteSource['sibling'],
  ) {}

  get byteLength(): number {
    return this.blob.size;
  }

  async slice(start: number, end: number): Promise<ArrayBuffer> {
    try {
      return await this.blob.slice(start, end).arrayBuffer();
    } catch (cause) {
      throw this.#changed(cause);
    }
  }

  /**
   * The same bytes as they come from the disk. Node's `arrayBuffer` is put together from such chunks, which then wait for
   * the garbage collector by the ten megabytes; here each is released as soon as it was used.
   */
  async *stream(start: number, end: number, signal?: AbortSignal): AsyncIterable<Uint8Array> {
    const reader = this.blob.slice(start, end).stream().getReader();
    try {
      for (let at = start; at < end;) {
        const { value, done } = await abortable(reader.read(), signal).catch((error: unknown) => {
          signal?.throwIfAborted();
          throw this.#changed(error);
        });
        if (done) throw this.#changed(new Error(`it ended at byte ${at}`));
        at += value.length;
        yield value;
        release(value);
      }
    } finally {
      await reader.cancel().catch(() => undefined);
    }
  }

  // A File is a reference: it cannot be read once the file on disk was touched.
  #changed(cause: unknown): EmbeddingError {
    return new EmbeddingError(
      'changed',
      `${this.name} cannot be read any more: it was changed, moved or removed since it was chosen; choose it again.`,
      { cause },
    );
  }
}
