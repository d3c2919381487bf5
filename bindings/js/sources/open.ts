import { EmbeddingError } from '../errors.js';
import { lazy } from '../lazy.js';
import { ModelCache } from '../cache/cache.js';
import { cache as defaultCache } from '../cache/default.js';
import { BufferSource } from './buffer.js';
import { CachedSource } from './cached.js';
import { blobBytes, ChunkedSource } from './chunked.js';
import { HttpSource } from './http.js';
import type { HttpOptions } from './http.js';
import { hubUrl } from './hub.js';
import { hasFileSystem, nodeModule } from './node.js';
import type { DigestOf } from './verified.js';
import type { ByteSource, Source, SourceLike } from './source.js';

export interface SourceOptions extends HttpOptions {
  /**
   * Keep what comes over the network on this device, and use what is there. Default `true`: the cache that the
   * package exports as `cache`; `openCache` makes others.
   */
  cache?: boolean | ModelCache;
  /** Use the cache alone, or fail at once with code `offline`. */
  offline?: boolean;
  /**
   * `sha256-…` (base64, as in HTML) of the file, or digests by file name for a model of several files. The whole
   * file is read for it, also where a part would do. Files without a digest are not checked.
   */
  integrity?: string | Readonly<Record<string, string>>;
  /** Which of several files (a dropped folder) the model is opened by; chosen by name where it is left out. */
  root?: string;
  signal?: AbortSignal;
}

/**
 * Opens anything that a model can be loaded from. Nothing is fetched yet (but a `data:` or `blob:` URL, and the
 * listing of a folder on disk).
 *
 * A string is a URL where it has a scheme (`https:`, `hf:`, `file:`, `blob:`, `data:`); else it is a path where the
 * runtime has files, and in a page or worker a URL relative to its own.
 */
export async function openSource(source: SourceLike, options: SourceOptions = {}): Promise<Source> {
  options.signal?.throwIfAborted();
  return verify(await openAny(source, options), options.integrity);
}

async function openAny(source: SourceLike, options: SourceOptions): Promise<Source> {
  if (typeof source === 'string') return openAddress(source, options);
  if (source instanceof URL) return openAddress(source.href, options);
  if (source instanceof ArrayBuffer || source instanceof Uint8Array) return new BufferSource(source);
  if (typeof Request !== 'undefined' && source instanceof Request) return openHttp(source, options);
  if (typeof Blob !== 'undefined' && source instanceof Blob) return openBlob(source);
  if (isFileList(source)) return openFolder(Array.from(source), options.root);
  if (isByteSource(source)) return new ChunkedSource(source, source.name ?? 'model');
  throw new TypeError(
    'A model is loaded from a URL, a path, a Request, a Blob or File, a list of Files, bytes, or { byteLength, slice }',
  );
}

async function openAddress(address: string, options: SourceOptions): Promise<Source> {
  // One letter is a Windows drive, not a scheme.
  const scheme = /^([a-z][a-z0-9+.-]+):/i.exec(address)?.[1]?.toLowerCase();
  switch (scheme) {
    case 'http':
    case 'https':
      return openHttp(address, options);
    case 'hf':
      return openHttp(hubUrl(address), options);
    case 'blob':
    case 'data':
      return openInline(address, options);
    case 'file':
      return openFileUrl(address);
    case undefined:
      return hasFileSystem() ? openPath(address) : openHttp(absoluteUrl(address), options);
    default:
      throw new EmbeddingError(
        'unsupported',
        `${address} has the unknown scheme ${scheme}: use http(s), hf or file.`,
      );
  }
}

function openHttp(target: string | Request, options: SourceOptions): Source {
  const http = new HttpSource(target, options);
  const { offline = false, integrity } = options;
  if (options.cache === false) {
    if (offline) throw new TypeError('offline needs the cache: leave out `cache: false`');
    return http;
  }
  const chosen = options.cache instanceof ModelCache ? options.cache : defaultCache;
  return new CachedSource(http, chosen, { offline, digestOf: digests(http.name, integrity) });
}

async function verify(source: Source, integrity: SourceOptions['integrity']): Promise<Source> {
  if (integrity === undefined) return source;
  const { VerifiedSource } = await lazy('checking digests', () => import('./verified.js'));
  return new VerifiedSource(source, digests(source.name, integrity));
}

/** A single digest is that of the file that was named; several go by the files' names. */
function digests(root: string, integrity: SourceOptions['integrity']): DigestOf {
  if (typeof integrity !== 'object') return (name) => (name === root ? integrity : undefined);
  const byName = new Map(Object.entries(integrity));
  return (name) => byName.get(name);
}

async function openInline(address: string, options: SourceOptions): Promise<Source> {
  const response = await (options.fetch ?? globalThis.fetch)(address, { signal: options.signal });
  return openBlob(await response.blob());
}

function openBlob(blob: Blob): Source {
  const name = (blob as Partial<File>).name ?? 'model';
  return new ChunkedSource(blobBytes(blob, name), name, true);
}

async function openFileUrl(address: string): Promise<Source> {
  const { fileURLToPath } = await nodeModule<typeof import('node:url')>('node:url');
  return openPath(fileURLToPath(address));
}

async function openPath(path: string): Promise<Source> {
  const { PathSource, rootPath } = await lazy('files on disk', () => import('./path.js'));
  return new PathSource(await rootPath(path));
}

async function openFolder(files: readonly File[], root?: string): Promise<Source> {
  const { folderSource } = await lazy('folders', () => import('./folder.js'));
  return folderSource(files, root);
}

function absoluteUrl(address: string): string {
  const scope = globalThis as { document?: { baseURI: string }; location?: { href: string } };
  const base = scope.document?.baseURI ?? scope.location?.href;
  try {
    return new URL(address, base).href;
  } catch (cause) {
    throw new EmbeddingError(
      'not-found',
      `${address} is no absolute URL, and there is no page to resolve it against.`,
      {
        cause,
      },
    );
  }
}

function isFileList(source: unknown): source is FileList | readonly File[] {
  return Array.isArray(source) || (typeof FileList !== 'undefined' && source instanceof FileList);
}

function isByteSource(source: unknown): source is ByteSource {
  const it = source as Partial<ByteSource> | null;
  return typeof it === 'object' && typeof it?.byteLength === 'number' && typeof it.slice === 'function';
}
