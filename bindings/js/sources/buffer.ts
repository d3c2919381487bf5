import { checkRange, notFound } from './checks.js';
import type { ReadOptions, Source } from './source.js';

/** Bytes that are in memory already. Reads are views, not copies. */
export class BufferSource implements Source {
  readonly name: string;
  readonly label: string;
  readonly parallel = 1;
  readonly #bytes: Uint8Array;

  constructor(bytes: ArrayBuffer | Uint8Array, name = 'model') {
    this.#bytes = bytes instanceof Uint8Array ? bytes : new Uint8Array(bytes);
    this.name = name;
    this.label = name === 'model' ? 'the buffer' : name;
  }

  async size(signal?: AbortSignal): Promise<number> {
    signal?.throwIfAborted();
    return this.#bytes.length;
  }

  async read(start: number, end: number, options: ReadOptions = {}): Promise<Uint8Array> {
    options.signal?.throwIfAborted();
    checkRange(this.label, start, end, this.#bytes.length);
    return this.#bytes.subarray(start, end);
  }

  async *stream(start: number, end: number, options: ReadOptions = {}): AsyncIterable<Uint8Array> {
    yield await this.read(start, end, options);
  }

  sibling(name: string): Source {
    return new MissingSource(name, `beside ${this.label}`);
  }
}

/** A file that is known not to be there. */
export class MissingSource implements Source {
  readonly name: string;
  readonly label: string;
  readonly parallel = 1;

  constructor(name: string, where: string) {
    this.name = name;
    this.label = `${name} ${where}`;
  }

  async size(): Promise<number> {
    throw notFound(this.label);
  }

  async read(): Promise<Uint8Array> {
    throw notFound(this.label);
  }

  // eslint-disable-next-line require-yield
  async *stream(): AsyncIterable<Uint8Array> {
    throw notFound(this.label);
  }

  sibling(name: string): Source {
    return new MissingSource(name, `beside ${this.label}`);
  }
}
