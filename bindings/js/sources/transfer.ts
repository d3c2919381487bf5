/** Moves whole tensors: long ranges are split over a few parallel requests where the source gains by that. */
import type { ReadOptions, Source } from './source.js';

export interface TransferOptions extends ReadOptions {
  /** Called with the bytes of every chunk after it was written. */
  onBytes?: (count: number) => void;
}

// Below this a second connection costs more than it brings.
const kShortestPart = 4 << 20;

/**
 * Reads [start, end) and hands every chunk to `write(offset, chunk)`, `offset` counting from `start`. Chunks may
 * come out of order, and a chunk is valid only during the call. Rejects with the first failure, after all other
 * requests of this transfer were closed.
 */
export async function transfer(
  source: Source,
  start: number,
  end: number,
  write: (offset: number, chunk: Uint8Array) => void,
  options: TransferOptions = {},
): Promise<void> {
  // What a source can do shows in its first answer.
  await source.size(options.signal);
  const count = Math.max(1, Math.min(source.parallel, Math.floor((end - start) / kShortestPart)));
  const stop = new AbortController();
  const forward = () => stop.abort(options.signal?.reason);
  if (options.signal?.aborted) forward();
  options.signal?.addEventListener('abort', forward);
  const part = async (from: number, to: number): Promise<void> => {
    let at = from;
    for await (const chunk of source.stream(from, to, { ...options, signal: stop.signal })) {
      write(at - start, chunk);
      at += chunk.length;
      options.onBytes?.(chunk.length);
    }
  };
  const edge = (i: number): number => start + Math.floor(((end - start) * i) / count);
  const parts = Array.from({ length: count }, (_, i) => part(edge(i), edge(i + 1)));
  try {
    await Promise.all(parts);
  } catch (failure) {
    stop.abort(failure);
    await Promise.allSettled(parts);
    throw failure;
  } finally {
    options.signal?.removeEventListener('abort', forward);
  }
}
