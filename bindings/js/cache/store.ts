/**
 * Where cached bytes lie: entries (one per version of a file) that hold named blocks. That is all the cache needs
 * to know of a disk, of the origin private file system or of the Cache API.
 *
 * Invariant: `put` is atomic. A block is either there as a whole or not at all, whoever is killed in between and
 * however many processes or tabs write the same one (they write the same bytes).
 */
export interface BlockStore {
  readonly kind: 'disk' | 'opfs' | 'cache-api';
  /** Names of the entries. */
  entries(): Promise<string[]>;
  /** Names of an entry's blocks; empty where there is no such entry. */
  blocks(entry: string): Promise<string[]>;
  /** Bytes [start, end) of a block; undefined where the block is missing or not `size` bytes long. */
  get(
    entry: string,
    block: string,
    size: number,
    start: number,
    end: number,
  ): Promise<Uint8Array | undefined>;
  /** A small block as text. */
  getText(entry: string, block: string): Promise<string | undefined>;
  /** Rejects where there is no room, or no permission. */
  put(entry: string, block: string, bytes: Uint8Array): Promise<void>;
  /** Removes an entry with all its blocks. Harmless where there is none. */
  remove(entry: string): Promise<void>;
}
