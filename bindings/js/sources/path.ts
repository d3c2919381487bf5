import { EmbeddingError } from '../errors.js';
import { MissingSource } from './buffer.js';
import { checkRange, isSafeSibling, notFound } from './checks.js';
import { chooseRoot } from './folder.js';
import { nodeModule } from './node.js';
import type { PathRecipe } from './recipe.js';
import type { ReadOptions, Source } from './source.js';

type Fs = typeof import('node:fs/promises');
type Path = typeof import('node:path');
type Handle = import('node:fs/promises').FileHandle;

interface Opened {
  handle: Handle;
  size: number;
}

const kChunkBytes = 1 << 20;

/** A file on disk, by path (Node, Deno, Bun). The handle is opened by the first read and kept until `close`. */
export class PathSource implements Source {
  readonly name: string;
  readonly label: string;
  readonly parallel = 1;
  #opened: Promise<Opened> | undefined;
  #closed = false;
  #siblings: PathSource[] = [];

  constructor(path: string) {
    this.label = path;
    this.name = path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1);
  }

  async size(signal?: AbortSignal): Promise<number> {
    signal?.throwIfAborted();
    return (await this.#open()).size;
  }

  async read(start: number, end: number, options: ReadOptions = {}): Promise<Uint8Array> {
    const { handle, size } = await this.#open();
    checkRange(this.label, start, end, size);
    const bytes = new Uint8Array(end - start);
    await this.#fill(handle, bytes, start, options.signal);
    return bytes;
  }

  async *stream(start: number, end: number, options: ReadOptions = {}): AsyncIterable<Uint8Array> {
    const { handle, size } = await this.#open();
    checkRange(this.label, start, end, size);
    const buffer = new Uint8Array(Math.min(kChunkBytes, end - start));
    for (let at = start; at < end; at += buffer.length) {
      const chunk = buffer.subarray(0, Math.min(buffer.length, end - at));
      await this.#fill(handle, chunk, at, options.signal);
      yield chunk;
    }
  }

  sibling(name: string): Source {
    if (!isSafeSibling(name)) return new MissingSource(name, `outside the folder of ${this.label}`);
    const folder = this.label.slice(0, this.label.length - this.name.length);
    const sibling = new PathSource(folder + name);
    this.#siblings.push(sibling);
    return sibling;
  }

  async recipe(): Promise<PathRecipe> {
    return { kind: 'path', path: this.label };
  }

  /** For good: a read that was still on its way when a load was stopped must not open the file once more. */
  async close(): Promise<void> {
    const opened = this.#opened;
    this.#closed = true;
    this.#opened = undefined;
    await Promise.all(this.#siblings.splice(0).map((sibling) => sibling.close()));
    await opened?.then(
      ({ handle }) => handle.close(),
      () => undefined,
    );
  }

  async #open(): Promise<Opened> {
    if (this.#closed) throw new EmbeddingError('disposed', `${this.label} was closed: load it again.`);
    this.#opened ??= open(this.label);
    return this.#opened;
  }

  async #fill(handle: Handle, into: Uint8Array, start: number, signal?: AbortSignal): Promise<void> {
    let filled = 0;
    while (filled < into.length) {
      signal?.throwIfAborted();
      // One call moves 2³¹ − 1 bytes at most; smaller ones also let an abort through.
      const length = Math.min(into.length - filled, 16 * kChunkBytes);
      const { bytesRead } = await handle.read(into, filled, length, start + filled);
      if (bytesRead === 0) {
        throw new EmbeddingError('changed', `${this.label} became shorter while it was read; load it again.`);
      }
      filled += bytesRead;
    }
    signal?.throwIfAborted();
  }
}

async function open(path: string): Promise<Opened> {
  const fs = await nodeModule<Fs>('node:fs/promises');
  let handle: Handle;
  try {
    handle = await fs.open(path, 'r');
  } catch (error) {
    throw openingFailed(path, error);
  }
  try {
    const status = await handle.stat();
    if (status.isFile()) return { handle, size: status.size };
    throw new EmbeddingError('unsupported', `${path} is not a file: give the path of a file in it.`);
  } catch (error) {
    await handle.close();
    throw error;
  }
}

function openingFailed(path: string, error: unknown): EmbeddingError {
  const { code } = error as { code?: string };
  if (code === 'ENOENT' || code === 'ENOTDIR') return notFound(path, error);
  const why = code === 'EACCES' || code === 'EPERM' ? 'you may not read it' : String(code ?? error);
  return new EmbeddingError('forbidden', `${path} cannot be opened: ${why}.`, { cause: error });
}

/** Path of the file to open for a path that may name a folder: the folder's root file of a model. */
export async function rootPath(path: string): Promise<string> {
  const fs = await nodeModule<Fs>('node:fs/promises');
  const { join } = await nodeModule<Path>('node:path');
  const status = await fs.stat(path).catch(() => undefined);
  if (!status?.isDirectory()) return path;
  const root = chooseRoot(await fs.readdir(path));
  if (root !== undefined) return join(path, root);
  throw notFound(`of a model in the folder ${path}`);
}
