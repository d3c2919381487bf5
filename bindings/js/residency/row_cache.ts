/** Stored rows by id, bounded in bytes; the least recently used go first. */
export class RowCache {
  // A Map keeps insertion order: a row that is used moves to the end.
  readonly #rows = new Map<number, Uint8Array>();
  #bytes = 0;
  #hits = 0;
  #misses = 0;

  constructor(readonly limit: number) {}

  get bytes(): number {
    return this.#bytes;
  }

  get rows(): number {
    return this.#rows.size;
  }

  /** Rows that were found, and rows that were not. */
  get counts(): { hits: number; misses: number } {
    return { hits: this.#hits, misses: this.#misses };
  }

  get(id: number): Uint8Array | undefined {
    const row = this.#rows.get(id);
    if (row === undefined) {
      this.#misses += 1;
      return undefined;
    }
    this.#hits += 1;
    this.#rows.delete(id);
    this.#rows.set(id, row);
    return row;
  }

  set(id: number, row: Uint8Array): void {
    if (row.length > this.limit) return;
    this.#bytes += row.length - (this.#rows.get(id)?.length ?? 0);
    this.#rows.delete(id);
    this.#rows.set(id, row);
    for (const [oldest, { length }] of this.#rows) {
      if (this.#bytes <= this.limit) break;
      this.#rows.delete(oldest);
      this.#bytes -= length;
    }
  }

  clear(): void {
    this.#rows.clear();
    this.#bytes = 0;
  }
}
