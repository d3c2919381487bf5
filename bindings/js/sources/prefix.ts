/**
 * The first bytes of a file, as far as they were read without a gap. Headers are read more than once (a reader
 * starts over with more bytes), and some servers cannot go back.
 */
export class Prefix {
  #bytes = new Uint8Array(0);
  #length = 0;

  constructor(private readonly limit: number) {}

  get length(): number {
    return this.#length;
  }

  /** Keeps what of `chunk`, which lies at offset `at`, continues the prefix. */
  add(at: number, chunk: Uint8Array): void {
    if (at > this.#length || at + chunk.length <= this.#length || this.#length >= this.limit) return;
    const fresh = chunk.subarray(this.#length - at).subarray(0, this.limit - this.#length);
    this.#reserve(this.#length + fresh.length);
    this.#bytes.set(fresh, this.#length);
    this.#length += fresh.length;
  }

  /** A copy of the part of [start, end) that is here. */
  slice(start: number, end: number): Uint8Array {
    return this.#bytes.slice(start, Math.max(start, Math.min(end, this.#length)));
  }

  #reserve(length: number): void {
    if (length <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.min(this.limit, Math.max(length, 2 * this.#bytes.length)));
    grown.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = grown;
  }
}
