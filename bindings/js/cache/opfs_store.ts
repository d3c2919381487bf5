import type { BlockStore } from './store.js';

const kFolder = 'id2vec-models';

/**
 * The origin private file system of a browser: a folder per entry, a file per block. A writable stream changes its
 * file only when it is closed, so a block appears as a whole.
 */
export class OpfsStore implements BlockStore {
  readonly kind = 'opfs';
  readonly #root: FileSystemDirectoryHandle;

  private constructor(root: FileSystemDirectoryHandle) {
    this.#root = root;
  }

  /** Undefined where the browser has none, or refuses it (private windows), or cannot write it atomically. */
  static async open(): Promise<OpfsStore | undefined> {
    const storage = globalThis.navigator?.storage as StorageManager | undefined;
    if (typeof storage?.getDirectory !== 'function') return undefined;
    if (!('createWritable' in FileSystemFileHandle.prototype)) return undefined;
    try {
      const root = await storage.getDirectory();
      return new OpfsStore(await root.getDirectoryHandle(kFolder, { create: true }));
    } catch {
      return undefined;
    }
  }

  async entries(): Promise<string[]> {
    return names(this.#root);
  }

  async blocks(entry: string): Promise<string[]> {
    const folder = await this.#folder(entry);
    return folder ? names(folder) : [];
  }

  async get(
    entry: string,
    block: string,
    size: number,
    start: number,
    end: number,
  ): Promise<Uint8Array | undefined> {
    const file = await this.#file(entry, block);
    if (file?.size !== size) return undefined;
    return new Uint8Array(await file.slice(start, end).arrayBuffer());
  }

  async getText(entry: string, block: string): Promise<string | undefined> {
    return (await this.#file(entry, block))?.text();
  }

  async put(entry: string, block: string, bytes: Uint8Array): Promise<void> {
    const folder = await this.#root.getDirectoryHandle(entry, { create: true });
    const handle = await folder.getFileHandle(block, { create: true });
    try {
      await write(handle, bytes as Uint8Array<ArrayBuffer>);
    } catch (error) {
      // An empty file would be listed as a block. What another tab has written stays.
      const { size } = await handle.getFile();
      if (size === 0) await folder.removeEntry(block);
      throw error;
    }
  }

  async remove(entry: string): Promise<void> {
    await this.#root.removeEntry(entry, { recursive: true }).catch(() => undefined);
  }

  #folder(entry: string): Promise<FileSystemDirectoryHandle | undefined> {
    return this.#root.getDirectoryHandle(entry).catch(() => undefined);
  }

  async #file(entry: string, block: string): Promise<File | undefined> {
    const folder = await this.#folder(entry);
    const handle = await folder?.getFileHandle(block).catch(() => undefined);
    return handle?.getFile().catch(() => undefined);
  }
}

/** Whole, or not at all. */
async function write(handle: FileSystemFileHandle, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
  const writable = await handle.createWritable();
  try {
    await writable.write(bytes);
    await writable.close();
  } catch (error) {
    await writable.abort().catch(() => undefined);
    throw error;
  }
}

async function names(folder: FileSystemDirectoryHandle): Promise<string[]> {
  const found: string[] = [];
  // The types of the DOM know no directory iterator yet.
  const keys = (folder as unknown as { keys(): AsyncIterable<string> }).keys();
  for await (const name of keys) found.push(name);
  return found;
}
