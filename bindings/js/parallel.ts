/**
 * Does `work` for each item, started in order, `atOnce` at a time. The first failure aborts the signal that the others
 * got, and is thrown when all have ended; so is the reason of `signal`, once it aborts.
 */
export async function inParallel<T>(
  items: readonly T[],
  atOnce: number,
  signal: AbortSignal | undefined,
  work: (item: T, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const stop = new AbortController();
  const either = signal ? AbortSignal.any([signal, stop.signal]) : stop.signal;
  const queue = [...items];
  const next = async (): Promise<void> => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item, either);
  };
  const workers = Array.from({ length: Math.min(atOnce, items.length) }, next);
  try {
    await Promise.all(workers);
  } catch (error) {
    stop.abort(error);
    await Promise.allSettled(workers);
    throw error;
  }
}
