import { EmbeddingError } from '../../errors.js';
import { EmbeddingModel } from '../../model.js';
import type { EmbeddingTable } from '../../table.js';
import { firstPositional, loadOptions, modelOptions, parseCount, UsageError } from '../command.js';
import type { Command } from '../command.js';
import { memorySpeed } from '../memory_speed.js';
import { alignColumns, formatBytes } from '../output.js';

const kDefaultRounds = 15;
const kIds = 4096;
const kFewIds = 7;
const kVectors = 8;
const kBest = 10;

export const bench: Command = {
  name: 'bench',
  usage: 'SOURCE [--rounds 15]',
  summary: 'speed of lookup and logits, beside the speed of memory in the same run',
  options: {
    rounds: { kind: 'value', value: 'N', help: `how often each is timed (default ${kDefaultRounds})` },
    ...modelOptions,
  },
  async run(args, output) {
    const source = firstPositional(args, 'SOURCE');
    if (args.positionals.length > 1)
      throw new UsageError(`"${args.positionals[1]}" is one argument too many`);
    const rounds = parseCount('rounds', args.value('rounds') ?? String(kDefaultRounds));
    using model = await EmbeddingModel.load(source, loadOptions(args, output));
    const { table, head } = model;
    if (table === undefined || head === undefined) {
      throw new EmbeddingError('unsupported', 'Only tables in this thread can be timed.');
    }
    const results = await measureTables(table, head, rounds);
    const { vocabSize, dim, dtype } = model;
    output.result({ isa: table.isa, vocabSize, dim, dtype, bytes: table.bytes, rounds, results }, () => {
      const what = `[${vocabSize}, ${dim}] ${dtype}, ${formatBytes(table.bytes)}, ${table.isa}, median of ${rounds}`;
      return `${what}\n\n${showResults(results)}`;
    });
  },
};

/** Something that is timed: what it reads or writes at least, and what doing no more than that would take. */
interface Task {
  name: string;
  bytes: number;
  limit?: 'read' | 'copy';
  run(): void;
}

interface Result {
  name: string;
  /** Median. */
  milliseconds: number;
  gigabytesPerSecond: number;
  /** Time of reading or copying the same bytes ÷ this time; null for these two themselves. */
  ofMemorySpeed: number | null;
}

async function measureTables(table: EmbeddingTable, head: EmbeddingTable, rounds: number): Promise<Result[]> {
  const tasks = await makeTasks(table, head);
  const times = new Map(tasks.map(({ name }) => [name, [] as number[]]));
  for (const { run } of tasks) run(); // the engine compiles on first use
  for (let round = 0; round < rounds; round++) {
    // In turns, so that a disturbance of the machine meets them all.
    for (const { name, run } of tasks) {
      const start = performance.now();
      run();
      times.get(name)!.push(performance.now() - start);
    }
  }
  const medians = new Map(Array.from(times, ([name, list]) => [name, median(list)]));
  const perByte = (name: string) => medians.get(name)! / tasks.find((task) => task.name === name)!.bytes;
  return tasks.map(({ name, bytes, limit }) => ({
    name,
    milliseconds: medians.get(name)!,
    gigabytesPerSecond: bytes / medians.get(name)! / 1e6,
    ofMemorySpeed: limit === undefined ? null : (perByte(limit) * bytes) / medians.get(name)!,
  }));
}

async function makeTasks(table: EmbeddingTable, head: EmbeddingTable): Promise<Task[]> {
  const rowsBytes = kIds * table.dim * 4;
  const memory = await memorySpeed(Math.max(head.bytes, 2 * rowsBytes));
  const vectors = head.lookup(Array.from({ length: kVectors }, (_, i) => (i * 97) % head.vocabSize)).data;
  const one = vectors.subarray(0, head.dim);
  const ids = Uint32Array.from({ length: kIds }, (_, i) => (i * 40503) % table.vocabSize);
  const few = ids.subarray(0, kFewIds);
  // They belong to the table's memory, which is dropped with the model.
  const rows = table.allocate(kIds * table.dim);
  const scores = head.allocate(kVectors * head.vocabSize);
  const logits = (hidden: Float32Array, precision: 'high' | 'fast') => () => {
    const length = (hidden.length / head.dim) * head.vocabSize;
    head.logits(hidden, { precision, out: scores.data.subarray(0, length) });
  };
  const lookup = (wanted: Uint32Array) => () => {
    table.lookup(wanted, { out: rows.data.subarray(0, wanted.length * table.dim) });
  };
  const scoring = { bytes: head.bytes, limit: 'read' as const };
  return [
    { name: 'read', bytes: head.bytes, run: () => memory.read(head.bytes) },
    { name: 'copy', bytes: rowsBytes, run: () => memory.copy(rowsBytes) },
    { name: 'logits, high, N = 1', ...scoring, run: logits(one, 'high') },
    { name: 'logits, fast, N = 1', ...scoring, run: logits(one, 'fast') },
    { name: 'logits, high, N = 8', ...scoring, run: logits(vectors, 'high') },
    { name: 'logits, fast, N = 8', ...scoring, run: logits(vectors, 'fast') },
    {
      name: `top ${kBest}, high, N = 1`,
      ...scoring,
      run: () => head.topK(one, Math.min(kBest, head.vocabSize)),
    },
    { name: `lookup, N = ${kIds}`, bytes: rowsBytes, limit: 'copy', run: lookup(ids) },
    { name: `lookup, N = ${kFewIds}`, bytes: kFewIds * table.dim * 4, limit: 'copy', run: lookup(few) },
  ];
}

function median(times: number[]): number {
  return times.sort((a, b) => a - b)[times.length >> 1]!;
}

function showResults(results: readonly Result[]): string {
  const rows = results.map(({ name, milliseconds, gigabytesPerSecond, ofMemorySpeed }) => [
    name,
    milliseconds.toFixed(4),
    gigabytesPerSecond.toFixed(2),
    ofMemorySpeed === null ? '' : ofMemorySpeed.toFixed(2),
  ]);
  return alignColumns([['', 'ms', 'GB/s', 'of memory speed'], ...rows], [1, 2, 3]);
}
