/** Files that commands write. */
import { open, rename, rm } from 'node:fs/promises';
import { UsageError } from './command.js';

/** What to write, by the name of the file. */
export function containerOf(path: string): 'gguf' | 'safetensors' {
  if (path.endsWith('.gguf')) return 'gguf';
  if (path.endsWith('.safetensors')) return 'safetensors';
  throw new UsageError(`${path} should end in .gguf or .safetensors, which says what to write`);
}

/** Under another name first: whoever finds the file finds all of it. Returns its size in bytes. */
export async function writeWhole(path: string, pieces: Iterable<Uint8Array>): Promise<number> {
  const partial = `${path}.partial-${process.pid}`;
  let written = 0;
  try {
    const file = await open(partial, 'w');
    try {
      for (const piece of pieces) {
        await file.writeFile(piece);
        written += piece.length;
      }
    } finally {
      await file.close();
    }
    await rename(partial, path);
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
  return written;
}
