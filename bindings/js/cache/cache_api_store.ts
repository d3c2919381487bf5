import type { BlockStore } from './store.js';

const kPrefix = 'id2vec-models/';
// Never requested: only a key, which has to be a URL.
const kBase = 'https://models.id2vec.invalid/';

/**
 * The Cache API, for browsers without a usable file system of their own: a cache per entry, a response per block.
 */
export class CacheApiStore implements BlockStore {
  readonly kind = 'cache-api';

  private constructor(private readonly caches: CacheStorage) {}

  /** Undefined where there is none (insecure pages, some private windows). */
  static async open(): Promise<CacheApiStore | undefined> {
    try {
      const { caches } = globalThis;
      await caches.keys();
      return new CacheApiStore(caches);
    } catch {
      return undefined;
    }
  }

  async entries(): Promise<string[]> {
    const names = await this.caches.keys();
    return names.filter((name) => name.startsWith(kPrefix)).map((name) => name.slice(kPrefix.length));
  }

  async blocks(entry: string): Promise<string[]> {
    // Opening a cache would create it.
    if (!(await this.caches.has(kPrefix + entry))) return [];
    const keys = await (await this.caches.open(kPrefix + entry)).keys();
    return keys.map(({ url }) => url.slice(kBase.length));
  }

  async get(
    entry: string,
    block: string,
    size: number,
    start: number,
    end: number,
  ): Promise<Uint8Array | undefined> {
    const blob = await (await this.#match(entry, block))?.blob();
    if (blob?.size !== size) return undefined;
    return new Uint8Array(await blob.slice(start, end).arrayBuffer());
  }

  async getText(entry: string, block: string): Promise<string | undefined> {
    return (await this.#match(entry, block))?.text();
  }

  async put(entry: string, block: string, bytes: Uint8Array): Promise<void> {
    const cache = await this.caches.open(kPrefix + entry);
    await cache.put(kBase + block, new Response(bytes.slice()));
  }

  async remove(entry: string): Promise<void> {
    await this.caches.delete(kPrefix + entry);
  }

  #match(entry: string, block: string): Promise<Response | undefined> {
    return this.caches.match(kBase + block, { cacheName: kPrefix + entry });
  }
}
