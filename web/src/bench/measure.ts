// How fast this browser looks up rows and scores them, beside what reading or copying the same bytes takes it.
import type { EmbeddingTable } from 'id2vec';

import { memorySpeed } from '../../../bindings/js/cli/memory_speed';

/** One table's figures. Times are medians in milliseconds; speeds are bytes per nanosecond, which is GB/s. */
export interface Figures {
  name: string;
  dtype: string;
  vocabSize: number;
  dim: number;
  bytes: number;
  isa: string;
  logits: Figure;
  lookup: Figure;
}

export interface Figure {
  milliseconds: number;
  gigabytesPerSecond: number;
  /** Time of reading (logits) or copying (lookup) the same bytes ÷ this time: 1 is the speed of memory. */
  ofMemory: number;
}

const kRounds = 15;
const kIds = 2048;
/** Clocks of browsers are coarse: what is timed at once takes at least this long. */
const kShortest = 4;

export async function measure(name: string, table: EmbeddingTable): Promise<Figures> {
  const { vocabSize, dim, dtype, bytes, isa } = table;
  const rowsBytes = kIds * dim * 4;
  const memory = await memorySpeed(Math.max(bytes, 2 * rowsBytes));
  const ids = Uint32Array.from({ length: kIds }, (_, i) => (i * 40503) % vocabSize);
  const hidden = table.lookup([vocabSize >> 1]).data;
  // They lie in the table's own memory, so that nothing is copied out.
  const rows = table.allocate(kIds * dim);
  const scores = table.allocate(vocabSize);
  const [read, logits, copy, lookup] = inTurns([
    () => memory.read(bytes),
    () => void table.logits(hidden, { out: scores.data }),
    () => memory.copy(rowsBytes),
    () => void table.lookup(ids, { out: rows.data }),
  ]) as [number, number, number, number];
  rows.dispose();
  scores.dispose();
  return {
    ...{ name, dtype, vocabSize, dim, bytes, isa },
    logits: { milliseconds: logits, gigabytesPerSecond: bytes / logits / 1e6, ofMemory: read / logits },
    lookup: { milliseconds: lookup, gigabytesPerSecond: rowsBytes / lookup / 1e6, ofMemory: copy / lookup },
  };
}

/** Median milliseconds of each task; they take turns, so that a disturbance of the machine meets them all. */
function inTurns(tasks: (() => void)[]): number[] {
  const repeats = tasks.map((task) => {
    task(); // the engine compiles on first use
    return Math.max(1, Math.ceil(kShortest / Math.max(timeOf(task, 3) / 3, 0.001)));
  });
  const times = tasks.map((): number[] => []);
  for (let round = 0; round < kRounds; ++round) {
    tasks.forEach((task, i) => times[i]!.push(timeOf(task, repeats[i]!) / repeats[i]!));
  }
  return times.map(median);
}

function timeOf(task: () => void, repeats: number): number {
  const start = performance.now();
  for (let i = 0; i < repeats; ++i) task();
  return performance.now() - start;
}

const median = (times: number[]) => times.sort((a, b) => a - b)[times.length >> 1]!;
