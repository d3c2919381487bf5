/**
 * What a small lookup costs beyond its kernel: 7 ids (the same ones again and again, so that caches are warm) through
 * every layer, median time of a call in µs.
 *
 *   kernel    the core's own function, ids and rows in its memory, less the same call with no ids (that is the border)
 *   border    the call with no ids: from JavaScript into WebAssembly and back
 *   table     EmbeddingTable.lookup, into memory that was allocated (in place), an array that is kept, a new array
 *   model     await EmbeddingModel.lookup, into an array that is kept, a new array
 *
 *   node tests/bench/latency.bench.mjs [--formats F32,Q8_0,Q4_K] [--shape 50257x768] [--rounds 200] [--json]
 */
import { EmbeddingModel } from '../../dist/index.js';
import { chosenFormats } from './lib/core.mjs';
import { describeEngine } from './lib/engine.mjs';
import { gguf } from './lib/gguf.mjs';
import { measure } from './lib/measure.mjs';
import { benchOptions, describeRun } from './lib/options.mjs';
import { modelLikeBytes, randomIds } from './lib/tables.mjs';

const kFewIds = 7;

async function benchLatency(format, [rows, cols], isa, options) {
  const bytes = await modelLikeBytes(format, rows, cols, isa);
  const model = await EmbeddingModel.load(gguf(format.name, rows, cols, bytes), { isa });
  const { table } = model;
  const ids = randomIds(kFewIds, rows);
  const inside = table.allocate(kFewIds * cols);
  const idsInside = table.allocate(kFewIds);
  new Uint32Array(idsInside.data.buffer, idsInside.data.byteOffset, kFewIds).set(ids);
  const [idsAt, outAt] = [idsInside.data.byteOffset, inside.data.byteOffset];
  const { functions } = table.core;
  const { handle } = table;
  const kept = new Float32Array(kFewIds * cols);
  const times = await measure(
    {
      'kernel and border': () => functions.lookup(handle, idsAt, kFewIds, outAt),
      border: () => functions.lookup(handle, idsAt, 0, outAt),
      'table, in place': () => table.lookup(ids, { out: inside.data }),
      'table, kept array': () => table.lookup(ids, { out: kept }),
      'table, new array': () => table.lookup(ids),
      'model, kept array': () => model.lookup(ids, { out: kept }),
      'model, new array': () => model.lookup(ids),
    },
    options,
  );
  model.dispose();
  const { 'kernel and border': whole, border, ...calls } = times;
  const kernel = 1000 * (whole.median - border.median);
  const beyond = Object.entries(calls).map(([name, { median }]) => [name, 1000 * median - kernel]);
  return {
    format: format.name,
    isa,
    rows,
    cols,
    kernel,
    border: 1000 * border.median,
    beyond: Object.fromEntries(beyond),
  };
}

function print({ format, isa, kernel, border, beyond }) {
  console.log(`\n${format}, ${isa}: kernel ${kernel.toFixed(2)} µs, border ${border.toFixed(2)} µs`);
  for (const [name, time] of Object.entries(beyond)) {
    console.log(
      `  ${name.padEnd(20)}${(kernel + time).toFixed(2).padStart(8)} µs, ${time.toFixed(2)} beyond the kernel`,
    );
  }
}

const options = {
  ...benchOptions({ formats: 'F32,Q8_0,Q4_K', isa: 'relaxed', rounds: '200' }),
  clock: 'wall',
};
const results = [];
if (!options.json) console.log(`${describeRun(options, describeEngine())}; ${kFewIds} ids`);
for (const format of await chosenFormats(options.formats)) {
  const result = await benchLatency(format, options.shapes[0], options.isas.at(-1), options);
  results.push(result);
  if (!options.json) print(result);
}
if (options.json) console.log(JSON.stringify({ engine: describeEngine(), results }, null, 1));
