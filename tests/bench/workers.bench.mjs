/**
 * Scoring by one and by two workers (residency: 'workers'), beside rows in the caller's own memory, on a table that fits
 * into the processor's cache: two cores share one way to memory, so beyond the cache a second one finds less to do.
 * Calls take turns. `speed-up`: time of one worker ÷ time of two. The `plain loop` needs no memory and hardly a message:
 * its speed-up is what the machine had to give meanwhile.
 *
 *   node tests/bench/workers.bench.mjs [--formats Q8_0,Q4_K] [--shape 30000x768] [--rounds 15] [--json]
 */
import { availableParallelism } from 'node:os';
import { EmbeddingModel } from '../../dist/index.js';
import { blockFormats } from './lib/core.mjs';
import { describeEngine } from './lib/engine.mjs';
import { gguf } from './lib/gguf.mjs';
import { loopWorkers } from './lib/loop_worker.mjs';
import { measureCalls } from './lib/measure.mjs';
import { benchOptions, describeRun } from './lib/options.mjs';
import { modelLikeBytes, randomFloats } from './lib/tables.mjs';

const kBest = 10;
const kVectors = 8;

function callsOf(model, hidden, out) {
  const one = hidden.subarray(0, model.dim);
  return {
    'logits x1': () => model.logits(one),
    'logits x1, out': () => model.logits(one, { out }),
    'logits x8': () => model.logits(hidden),
    'top10 x1': () => model.topK(one, kBest),
    'top10 x8': () => model.topK(hidden, kBest),
  };
}

async function benchWorkers(format, [rows, cols], isa, options) {
  const file = gguf(format.name, rows, cols, await modelLikeBytes(format, rows, cols, isa));
  const hidden = randomFloats(kVectors * cols, 3);
  const out = new Float32Array(rows);
  const models = {
    memory: await EmbeddingModel.load(file, { isa }),
    'one worker': await EmbeddingModel.load(file, { isa, residency: 'workers', workers: 1 }),
    'two workers': await EmbeddingModel.load(file, { isa, residency: 'workers', workers: 2 }),
  };
  const loop = await loopWorkers();
  const calls = { 'plain loop: one worker': loop.one, 'plain loop: two workers': loop.two };
  for (const [where, model] of Object.entries(models)) {
    for (const [what, call] of Object.entries(callsOf(model, hidden, out))) calls[`${what}: ${where}`] = call;
  }
  const whats = [...Object.keys(callsOf(models.memory, hidden, out)), 'plain loop'];
  const times = await measureCalls(calls, options);
  await loop.close();
  for (const model of Object.values(models)) model.dispose();
  const bytes = file.length;
  return { format: format.name, isa, rows, cols, bytes, calls: whats, times };
}

function print({ format, isa, rows, cols, bytes, calls, times }) {
  console.log(`${format} ${rows}x${cols} (${(bytes / 2 ** 20).toFixed(1)} MB), ${isa}`);
  for (const what of calls) {
    const of = (where) => times[`${what}: ${where}`].median;
    const least = (where) => times[`${what}: ${where}`].minimum;
    const column = (where) => (times[`${what}: ${where}`]?.median.toFixed(2) ?? '').padStart(9);
    console.log(
      `  ${what.padEnd(16)}${['memory', 'one worker', 'two workers'].map(column).join('')}` +
        `${(of('one worker') / of('two workers')).toFixed(2).padStart(10)}` +
        `${(least('one worker') / least('two workers')).toFixed(2).padStart(13)}`,
    );
  }
}

const options = {
  ...benchOptions({ formats: 'Q8_0,Q4_K', shape: '30000x768', isa: 'relaxed' }),
  clock: 'wall',
};
const known = await blockFormats();
const results = [];
if (!options.json) {
  console.log(
    `${describeRun(options, describeEngine())}\n${availableParallelism()} processors; milliseconds, medians`,
  );
  console.log(`${' '.repeat(18)}   memory      one      two  speed-up  of minimums`);
}
for (const name of options.formats.split(',')) {
  const format = known.find((candidate) => candidate.name === name);
  const result = await benchWorkers(format, options.shapes[0], options.isas.at(-1), options);
  results.push(result);
  if (!options.json) print(result);
}
if (options.json)
  console.log(JSON.stringify({ run: describeRun(options, describeEngine()), results }, null, 1));
