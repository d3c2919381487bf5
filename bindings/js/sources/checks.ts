import { EmbeddingError } from '../errors.js';

/** Throws where [start, end) is no range of a file of `size` bytes. */
export function checkRange(label: string, start: number, end: number, size: number): void {
  if (!Number.isSafeInteger(start) || !Number.isSafeInteger(end) || start < 0 || end < start) {
    throw new RangeError(`[${start}, ${end}) is not a range of bytes`);
  }
  if (end > size) throw truncated(label, start, end, size);
}

export function truncated(label: string, start: number, end: number, size: number): EmbeddingError {
  return new EmbeddingError(
    'truncated',
    `${label} ends at byte ${size}, but bytes ${start} to ${end} were wanted: the file is incomplete; ` +
      `fetch it again.`,
  );
}

export function notFound(label: string, cause?: unknown): EmbeddingError {
  return new EmbeddingError('not-found', `There is no file ${label}: check the name.`, { cause });
}

/** Whether an optional file is not there: some storage hosts answer 403 then. */
export function isAbsent(error: unknown): boolean {
  return error instanceof EmbeddingError && (error.code === 'not-found' || error.code === 'forbidden');
}

/** The last part of a path or of a URL's path, decoded where it can be. */
export function baseName(path: string): string {
  const last = path.slice(path.lastIndexOf('/') + 1);
  try {
    return decodeURIComponent(last);
  } catch {
    return last;
  }
}

/** All chunks as one array of exactly `length` bytes. */
export async function collect(chunks: AsyncIterable<Uint8Array>, length: number): Promise<Uint8Array> {
  const all = new Uint8Array(length);
  let filled = 0;
  for await (const chunk of chunks) {
    all.set(chunk, filled);
    filled += chunk.length;
  }
  return all;
}

/**
 * True for a name that stays within the folder of its file. Names of siblings come out of files that anybody may
 * have written (ONNX external data, shard indexes): none may lead elsewhere.
 */
export function isSafeSibling(name: string): boolean {
  if (name === '' || /[\\\0:]/.test(name) || name.startsWith('/')) return false;
  return !name.split('/').includes('..');
}
