import { hasFileSystem } from '../sources/node.js';
import { CacheApiStore } from './cache_api_store.js';
import { lazy } from '../lazy.js';
import { ModelCache } from './cache.js';
import type { CacheOptions } from './cache.js';
import { OpfsStore } from './opfs_store.js';
import type { BlockStore } from './store.js';

const kLimit = 16 * 2 ** 30;
// Browsers evict a whole origin when it nears its quota: other data of the page needs room, too.
const kShareOfQuota = 0.6;

/**
 * Opens a cache: a folder on disk in Node, Deno and Bun; the origin private file system in browsers, or the Cache
 * API where that is missing; nothing where there is neither.
 */
export function openCache(options: CacheOptions = {}): ModelCache {
  return new ModelCache(
    () => openStore(options.folder),
    () => findLimit(options.limit),
    options.folder,
  );
}

async function openStore(folder?: string): Promise<BlockStore | undefined> {
  if (hasFileSystem()) {
    const { DiskStore } = await lazy('the cache on disk', () => import('./disk_store.js'));
    return DiskStore.open(folder);
  }
  return (await OpfsStore.open()) ?? (await CacheApiStore.open());
}

async function findLimit(wanted = kLimit): Promise<number> {
  const storage = hasFileSystem() ? undefined : globalThis.navigator?.storage;
  const { quota } = (await storage?.estimate?.().catch(() => undefined)) ?? {};
  return quota === undefined ? wanted : Math.min(wanted, kShareOfQuota * quota);
}

/** The cache that loads use unless they are given another one. */
export const cache: ModelCache = openCache();
