import { nodeModule, nodeProcess } from '../sources/node.js';
import type { BlockStore } from './store.js';

type Fs = typeof import('node:fs/promises');

/** A folder on disk: a folder per entry, a file per block. New blocks are written beside and renamed. */
export class DiskStore implements BlockStore {
  readonly kind = 'disk';
  readonly #folder: string;
  readonly #fs: Fs;

  private constructor(folder: string, fs: Fs) {
    this.#folder = folder;
    this.#fs = fs;
  }

  static async open(folder?: string): Promise<DiskStore> {
    return new DiskStore(folder ?? (await defaultFolder()), await nodeModule<Fs>('node:fs/promises'));
  }

  async entries(): Promise<string[]> {
    return this.#list(this.#folder);
  }

  async blocks(entry: string): Promise<string[]> {
    return this.#list(`${this.#folder}/${entry}`);
  }

  async get(
    entry: string,
    block: string,
    size: number,
    start: number,
    end: number,
  ): Promise<Uint8Array | undefined> {
    const handle = await this.#fs.open(this.#path(entry, block), 'r').catch(() => undefined);
    if (!handle) return undefined;
    try {
      if ((await handle.stat()).size !== size) return undefined;
      const bytes = new Uint8Array(end - start);
      const { bytesRead } = await handle.read(bytes, 0, bytes.length, start);
      return bytesRead === bytes.length ? bytes : undefined;
    } finally {
      await handle.close();
    }
  }

  async getText(entry: string, block: string): Promise<string | undefined> {
    return this.#fs.readFile(this.#path(entry, block), 'utf8').catch(() => undefined);
  }

  async put(entry: string, block: string, bytes: Uint8Array): Promise<void> {
    const folder = `${this.#folder}/${entry}`;
    const temporary = `${folder}/.${block}.${Math.random().toString(36).slice(2)}`;
    await this.#fs.mkdir(folder, { recursive: true });
    try {
      await this.#fs.writeFile(temporary, bytes);
      await this.#fs.rename(temporary, `${folder}/${block}`);
    } catch (error) {
      await this.#fs.rm(temporary, { force: true });
      throw error;
    }
  }

  async remove(entry: string): Promise<void> {
    await this.#fs.rm(`${this.#folder}/${entry}`, { recursive: true, force: true });
  }

  // Dotted names are blocks that are being written, or that a killed process left behind.
  async #list(folder: string): Promise<string[]> {
    const names = await this.#fs.readdir(folder).catch(() => []);
    return names.filter((name) => !name.startsWith('.'));
  }

  #path(entry: string, block: string): string {
    return `${this.#folder}/${entry}/${block}`;
  }
}

/** `$ID2VEC_MODELS`, or the place where the system keeps caches. */
async function defaultFolder(): Promise<string> {
  const { homedir } = await nodeModule<typeof import('node:os')>('node:os');
  const { join } = await nodeModule<typeof import('node:path')>('node:path');
  const { env, platform } = nodeProcess()!;
  if (env.ID2VEC_MODELS) return env.ID2VEC_MODELS;
  if (platform === 'darwin') return join(homedir(), 'Library', 'Caches', 'id2vec', 'models');
  if (platform === 'win32') {
    return join(env.LOCALAPPDATA ?? join(homedir(), 'AppData', 'Local'), 'id2vec', 'models');
  }
  return join(env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'id2vec', 'models');
}
