/**
 * How another thread opens a file that this one has open: what can be sent in a message, and how a source is made of
 * it there. A source that works with functions of its caller (a custom `fetch`, a ByteSource) has no recipe, nor has
 * one that only one reader can follow (no ranges, a digest of the whole file that is still to be checked).
 */
import { openCache } from '../cache/default.js';
import type { EntryName } from '../cache/cache.js';
import type { Validators } from './answer.js';
import { CachedSource } from './cached.js';
import { blobBytes, ChunkedSource } from './chunked.js';
import { HttpSource } from './http.js';
import { PathSource } from './path.js';
import type { RetryOptions } from './retry.js';
import type { Source } from './source.js';

export type Recipe = HttpRecipe | CachedRecipe | PathRecipe | BlobRecipe;

export interface HttpRecipe {
  kind: 'http';
  url: string;
  headers: [name: string, value: string][];
  retry: RetryOptions;
  /** The version that was found, on a server that has ranges; absent where nobody has asked the server yet. */
  version?: Validators;
}

/** A file seen through the cache: an entry of it, which the reader may fill. */
export interface CachedRecipe {
  kind: 'cached';
  inner: HttpRecipe;
  /** Where the cache lies on disk, if not in the usual place. */
  folder?: string;
  entry: EntryName;
  offline: boolean;
  /** Bytes that the reader may add to the entry. */
  room: number;
}

export interface PathRecipe {
  kind: 'path';
  path: string;
}

export interface BlobRecipe {
  kind: 'blob';
  blob: Blob;
  name: string;
}

/** Never fails: what is wrong shows in the first read. */
export function openRecipe(recipe: Recipe): Source {
  switch (recipe.kind) {
    case 'http':
      return openHttp(recipe);
    case 'cached': {
      const { folder, entry, offline, room } = recipe;
      // The bounds are minded by who wrote the recipe.
      const cache = openCache({ folder, limit: Infinity });
      return new CachedSource(openHttp(recipe.inner), cache, { entry, offline, room });
    }
    case 'path':
      return new PathSource(recipe.path);
    case 'blob':
      return new ChunkedSource(blobBytes(recipe.blob, recipe.name), recipe.name, true);
  }
}

function openHttp({ url, headers, retry, version }: HttpRecipe): HttpSource {
  return new HttpSource(url, { ...retry, headers }, { version });
}
