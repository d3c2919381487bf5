/**
 * One load in a process of its own, told on the command line as JSON: { kind, from, warm, residency }. Prints what it
 * took, as JSON; bytes, and milliseconds for `pause`:
 *
 *   heap       WebAssembly memory (of all threads) once the model is there
 *   buffers    the most that ArrayBuffers outside WebAssembly held: chunks on their way
 *   resident   the most that the process had in memory, less what it had before
 *   pause      the longest time for which the event loop of this thread stood still
 */
import { openAsBlob } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { clearInterval, setInterval } from 'node:timers';
import { EmbeddingModel } from '../../../dist/index.js';

const kSampleMilliseconds = 2;

const { kind, from, warm, residency } = JSON.parse(process.argv[2]);
const options = { residency, workers: 2, cache: kind === 'URL, cache' };
const open = (path) => (kind === 'Blob' ? openAsBlob(path) : path);

// Whatever a process needs once (compiled code, the first worker, the first request) is no part of what a load takes.
const first = await EmbeddingModel.load(await open(warm), options);
await first.lookup([0]);
first.dispose();
globalThis.gc?.();
await new Promise((resolve) => setTimeout(resolve, 100));

// What `maxRSS` says counts from the process's start; a load of some size goes beyond that.
const source = await open(from);
const before = process.memoryUsage();
let buffers = 0;
let resident = 0;
const sample = () => {
  const now = process.memoryUsage();
  buffers = Math.max(buffers, now.arrayBuffers - before.arrayBuffers);
  resident = Math.max(resident, now.rss - before.rss);
};
const delay = monitorEventLoopDelay({ resolution: 1 });
const timer = setInterval(sample, kSampleMilliseconds);
delay.enable();
const start = performance.now();
const model = await EmbeddingModel.load(source, options);
const milliseconds = performance.now() - start;
sample();
await new Promise((resolve) => setTimeout(resolve, 5)); // a pause at the end shows now
delay.disable();
clearInterval(timer);
const { heap, embedding } = model.info.memory;
await model.lookup([model.vocabSize - 1]);
model.dispose();
console.log(
  JSON.stringify({ table: embedding, heap, buffers, resident, pause: delay.max / 1e6, milliseconds }),
);
