// Word vectors to GGUF, for `convert`.
import { createReadStream } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { EmbeddingError } from '../../errors.js';
import { openSource } from '../../sources/open.js';
import type { SourceOptions } from '../../sources/open.js';
import type { WasmOptions } from '../../wasm.js';
import { WordVectorFile } from '../../word_vectors.js';
import type { WordVectorLayout } from '../../word_vectors.js';

export type ConvertedWords = Omit<WordVectorLayout, 'header' | 'rowsOffset'>;

/** Writes `to`; undefined, and nothing written, where `from` holds no word vectors. */
export async function convertWords(
  from: string,
  to: string,
  options: SourceOptions & WasmOptions,
): Promise<ConvertedWords | undefined> {
  const source = await openSource(from, options);
  try {
    const words = await WordVectorFile.open(source, options);
    if (words === undefined) return undefined;
    if (!to.endsWith('.gguf')) {
      throw new EmbeddingError(
        'unsupported',
        `${to}: only GGUF keeps the words beside their vectors; name it .gguf.`,
      );
    }
    const { rows, dim, skipped, bytes } = await write(to, (take) => words.read(source.name, take, options));
    return { rows, dim, skipped, bytes };
  } finally {
    await source.close?.();
  }
}

type ReadRows = (take: (rows: Uint8Array) => Promise<void>) => Promise<WordVectorLayout>;

/**
 * The header holds all tokens and stands before the rows, so the rows wait in a file of their own. The name is given
 * last: a file that has it is whole.
 */
async function write(path: string, readRows: ReadRows): Promise<WordVectorLayout> {
  const [waiting, partial] = [`${path}.rows-${process.pid}`, `${path}.partial-${process.pid}`];
  try {
    const layout = await withFile(waiting, (file) => readRows((rows) => file.writeFile(rows)));
    await withFile(partial, async (file) => {
      await file.writeFile(layout.header);
      await file.writeFile(new Uint8Array(layout.rowsOffset - layout.header.length));
      for await (const chunk of createReadStream(waiting)) await file.writeFile(chunk as Uint8Array);
      await file.writeFile(new Uint8Array(layout.bytes - layout.rowsOffset - layout.rows * layout.dim * 4));
    });
    await rename(partial, path);
    return layout;
  } finally {
    await rm(waiting, { force: true });
    await rm(partial, { force: true });
  }
}

async function withFile<T>(path: string, use: (file: FileHandle) => Promise<T>): Promise<T> {
  const file = await open(path, 'w');
  try {
    return await use(file);
  } finally {
    await file.close();
  }
}
