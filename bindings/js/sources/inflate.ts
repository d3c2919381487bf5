/** Raw deflate data (RFC 1951), as zip entries hold it (`npz`), seen as the file that it inflates to. */
import { EmbeddingError } from '../errors.js';
import { MissingSource } from './buffer.js';
import { checkRange, collect } from './checks.js';
import type { ReadOptions, Source } from './source.js';

/** Where the deflated bytes lie, and how many bytes come out of them (both are in the zip's directory). */
export interface Deflated {
  start: number;
  bytes: number;
  inflatedBytes: number;
}

/**
 * A file inside a file. Inflating only goes forwards: a read starts over from the entry's beginning, so a header is
 * cheap and the weights should be read in one `stream`.
 */
export class InflatedSource implements Source {
  readonly parallel = 1;
  readonly label: string;

  constructor(
    private readonly outer: Source,
    private readonly entry: Deflated,
    readonly name: string,
  ) {
    this.label = `${name} in ${outer.label}`;
  }

  async size(): Promise<number> {
    return this.entry.inflatedBytes;
  }

  async read(start: number, end: number, options: ReadOptions = {}): Promise<Uint8Array> {
    checkRange(this.label, start, end, this.entry.inflatedBytes);
    return collect(this.stream(start, end, options), end - start);
  }

  async *stream(start: number, end: number, options: ReadOptions = {}): AsyncIterable<Uint8Array> {
    checkRange(this.label, start, end, this.entry.inflatedBytes);
    let at = 0;
    if (start === end) return;
    for await (const chunk of inflate(this.outer, this.entry, options)) {
      const part = chunk.subarray(Math.max(0, start - at), Math.max(0, end - at));
      at += chunk.length;
      if (part.length > 0) yield part;
      if (at >= end) return;
    }
    throw new EmbeddingError(
      'truncated',
      `${this.label} inflates to ${at} bytes and not to the ${this.entry.inflatedBytes} that the zip file promises.`,
    );
  }

  sibling(name: string): Source {
    return new MissingSource(name, `in ${this.outer.label}`);
  }
}

async function* inflate(outer: Source, entry: Deflated, options: ReadOptions): AsyncIterable<Uint8Array> {
  const { start, bytes } = entry;
  const chunks = outer.stream(start, start + bytes, options)[Symbol.asyncIterator]();
  // Of reading, as opposed to inflating.
  let failure: Error | undefined;
  const input = new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      try {
        const next = await chunks.next();
        if (next.done) controller.close();
        // A chunk's memory may be reused by its source, while the inflater still holds it.
        else controller.enqueue(next.value.slice());
      } catch (error) {
        failure = error as Error;
        throw error;
      }
    },
    async cancel() {
      await chunks.return?.();
    },
  });
  const reader = input.pipeThrough(new DecompressionStream('deflate-raw')).getReader();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
  } catch (error) {
    if (failure) throw failure;
    throw new EmbeddingError('malformed', `${outer.label} holds damaged deflate data at byte ${start}.`, {
      cause: error,
    });
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
