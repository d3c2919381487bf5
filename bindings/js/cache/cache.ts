/**
 * The persistent cache of model files: which versions of which URLs are there, how much room they take, and what
 * goes when it is full. Bytes lie in a BlockStore; this file knows entries.
 *
 * An entry is one version of one file: URL + validators (ETag, date, size), or the file's digest where one is
 * required. It holds `meta.json` and blocks named by their ranges, in any number: a partial download is an entry
 * like any other, and the next load fetches what is missing.
 *
 * Nothing here makes a load fail: where bytes cannot be kept they are not kept.
 */
import type { Validators } from '../sources/answer.js';
import type { Range } from '../sources/source.js';
import { blockName, blockRange, Extents } from './extents.js';
import { hexDigest } from './sha256.js';
import type { BlockStore } from './store.js';

/** One cached version of a file, complete or not. */
export interface CachedFile {
  /** Names the entry; good for `delete`. */
  key: string;
  url: string;
  /** Size of the file. */
  size: number;
  /** Bytes of it that are cached. */
  bytes: number;
  complete: boolean;
  /** Where its digest was checked: `sha256-…`. */
  integrity?: string;
  lastUsed: Date;
}

export interface CacheOptions {
  /** Bytes that all entries together may take; the least recently used go first. */
  limit?: number;
  /** Folder (Node, Deno, Bun). Default: `$ID2VEC_MODELS`, or `id2vec/models` where the system keeps caches. */
  folder?: string;
}

export interface Meta {
  url: string;
  validators: Validators;
  size: number;
  integrity?: string;
  used: number;
  /** The server has no such file: a sibling that was asked for, and that a load without network can do without. */
  missing?: boolean;
}

const kMeta = 'meta.json';

/** What another thread needs to know of an entry. */
export interface EntryName {
  key: string;
  meta: Meta;
}

/** An open entry: what is there, and a way to add to it. */
export interface Entry extends EntryName {
  extents: Extents;
}

export class ModelCache {
  readonly #openStore: () => Promise<BlockStore | undefined>;
  readonly #findLimit: () => Promise<number>;
  #opened: Promise<BlockStore | undefined> | undefined;
  #limit: Promise<number> | undefined;
  #total: number | undefined;

  /** @internal Both functions are called when they are needed first, and once. */
  constructor(
    openStore: () => Promise<BlockStore | undefined>,
    findLimit: () => Promise<number>,
    /** @internal As it was given. */
    readonly folder?: string,
  ) {
    this.#openStore = openStore;
    this.#findLimit = findLimit;
  }

  get #store(): Promise<BlockStore | undefined> {
    return (this.#opened ??= this.#openStore().catch(() => undefined));
  }

  /** Where the bytes lie; `none` where this runtime or window keeps nothing. */
  async kind(): Promise<BlockStore['kind'] | 'none'> {
    return (await this.#store)?.kind ?? 'none';
  }

  /** All entries, the most recently used first. */
  async list(): Promise<CachedFile[]> {
    const files: CachedFile[] = [];
    for (const [key] of await this.#metas()) {
      const entry = await this.#load(key);
      if (entry && !entry.meta.missing) files.push(describe(entry));
    }
    return files.sort((a, b) => b.lastUsed.getTime() - a.lastUsed.getTime());
  }

  /** Bytes that all entries take together. */
  async size(): Promise<number> {
    return (await this.list()).reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** Deletes the entries of a URL, or the one of a key; returns how many there were. */
  async delete(urlOrKey: string): Promise<number> {
    const files = (await this.list()).filter(({ key, url }) => key === urlOrKey || url === urlOrKey);
    for (const { key } of files) await this.#remove(key);
    return files.length;
  }

  async clear(): Promise<void> {
    const store = await this.#store;
    for (const key of (await store?.entries()) ?? []) await this.#remove(key);
  }

  // ---- for CachedSource -----------------------------------------------------------------------------------

  /** @internal The entry of this version of a URL, new or not. Older versions of the URL are deleted. */
  async open(url: string, validators: Validators, size: number, integrity?: string): Promise<Entry> {
    const version = integrity ?? `${url} ${validators.etag ?? ''} ${validators.lastModified ?? ''} ${size}`;
    const key = (await hexDigest(version)).slice(0, 32);
    const entry = (await this.#load(key)) ?? newEntry(key, url, validators, size);
    await this.#quietly(async () => {
      for (const [old, meta] of await this.#metas()) {
        if (meta.url === url && old !== key && meta.integrity === undefined) await this.#remove(old);
      }
    });
    return entry;
  }

  /** @internal The entry that was used last for a URL, or the verified one of a digest. */
  async find(url: string, integrity?: string): Promise<Entry | undefined> {
    const metas = [...(await this.#metas())].sort(([, a], [, b]) => b.used - a.used);
    for (const [key, meta] of metas) {
      if (integrity === undefined ? meta.url !== url : meta.integrity !== integrity) continue;
      const entry = await this.#load(key);
      if (entry && (integrity === undefined || entry.extents.covers(0, meta.size))) return entry;
    }
    return undefined;
  }

  /** @internal The entry that another thread has opened. */
  async resume({ key, meta }: EntryName): Promise<Entry> {
    return (await this.#load(key)) ?? { key, meta, extents: new Extents() };
  }

  /** @internal Makes room for bytes that others will add to an entry; returns for how many there is. */
  async reserve(key: string, bytes: number): Promise<number> {
    let room = 0;
    await this.#quietly(async () => {
      const fits = await this.#makeRoom(key, bytes);
      room = fits ? bytes : Math.max(0, (await this.#limit!) - this.#total!);
    });
    this.#total = undefined; // of what they add nothing is seen here
    return room;
  }

  /** @internal Bytes of a block that `extents` names; undefined where they have gone meanwhile. */
  async read(entry: Entry, block: Range, start: number, end: number): Promise<Uint8Array | undefined> {
    const store = await this.#store;
    const { start: from } = block;
    try {
      return await store?.get(entry.key, blockName(block), block.end - from, start - from, end - from);
    } catch {
      return undefined;
    }
  }

  /** @internal Adds bytes to an entry; false where there is no room or no permission. */
  async write(entry: Entry, start: number, bytes: Uint8Array): Promise<boolean> {
    const block = { start, end: start + bytes.length };
    const written = await this.#quietly(async (store) => {
      if (!(await this.#makeRoom(entry.key, bytes.length))) throw new Error('full');
      if (entry.extents.bytes() === 0) await this.#putMeta(store, entry);
      await store.put(entry.key, blockName(block), bytes);
    });
    if (!written) return false;
    this.#total = (this.#total ?? 0) + bytes.length;
    entry.extents.add(block);
    return true;
  }

  /** @internal Notes that an entry was used, or that its digest was checked. */
  async touch(entry: Entry, integrity?: string): Promise<void> {
    entry.meta.used = Date.now();
    if (integrity !== undefined) entry.meta.integrity = integrity;
    if (entry.extents.bytes() > 0) await this.#quietly((store) => this.#putMeta(store, entry));
  }

  /** @internal Notes that a sibling is not there. */
  async noteMissing(url: string): Promise<void> {
    const key = (await hexDigest(`${url} missing`)).slice(0, 32);
    const entry = newEntry(key, url, {}, 0);
    entry.meta.missing = true;
    await this.#quietly((store) => this.#putMeta(store, entry));
  }

  /** @internal */
  async discard(entry: Entry): Promise<void> {
    await this.#quietly(() => this.#remove(entry.key));
  }

  async #metas(): Promise<Map<string, Meta>> {
    const store = await this.#store;
    const metas = new Map<string, Meta>();
    for (const key of (await store?.entries().catch(() => undefined)) ?? []) {
      const meta = parseMeta(await store!.getText(key, kMeta).catch(() => undefined));
      if (meta) metas.set(key, meta);
    }
    return metas;
  }

  async #load(key: string): Promise<Entry | undefined> {
    const store = await this.#store;
    const meta = parseMeta(await store?.getText(key, kMeta).catch(() => undefined));
    if (!meta) return undefined;
    const ranges = (await store!.blocks(key)).map(blockRange).filter((range) => range !== undefined);
    return { key, meta, extents: new Extents(ranges.filter(({ end }) => end <= meta.size)) };
  }

  #putMeta(store: BlockStore, entry: Entry): Promise<void> {
    return store.put(entry.key, kMeta, new TextEncoder().encode(JSON.stringify(entry.meta)));
  }

  async #remove(key: string): Promise<void> {
    this.#total = undefined;
    await (await this.#store)?.remove(key);
  }

  /** Deletes the least recently used other entries until `bytes` more fit; false where they cannot. */
  async #makeRoom(key: string, bytes: number): Promise<boolean> {
    const limit = await (this.#limit ??= this.#findLimit());
    this.#total ??= await this.size();
    if (this.#total + bytes <= limit) return true;
    const others = (await this.list()).filter((file) => file.key !== key).reverse();
    let total = await this.size();
    for (const file of others) {
      if (total + bytes <= limit) break;
      await this.#remove(file.key);
      total -= file.bytes;
    }
    this.#total = total;
    return total + bytes <= limit;
  }

  /** Runs something that may fail without harm: no store, no room, no permission. */
  async #quietly(work: (store: BlockStore) => Promise<void>): Promise<boolean> {
    try {
      const store = await this.#store;
      if (!store) return false;
      await work(store);
      return true;
    } catch {
      return false;
    }
  }
}

function newEntry(key: string, url: string, validators: Validators, size: number): Entry {
  return { key, meta: { url, validators, size, used: Date.now() }, extents: new Extents() };
}

function describe({ key, meta, extents }: Entry): CachedFile {
  return {
    key,
    url: meta.url,
    size: meta.size,
    bytes: extents.bytes(),
    complete: extents.covers(0, meta.size),
    ...(meta.integrity !== undefined && { integrity: meta.integrity }),
    lastUsed: new Date(meta.used),
  };
}

function parseMeta(text: string | undefined): Meta | undefined {
  if (text === undefined) return undefined;
  try {
    const meta = JSON.parse(text) as Meta;
    return typeof meta.url === 'string' && Number.isSafeInteger(meta.size) ? meta : undefined;
  } catch {
    return undefined;
  }
}
