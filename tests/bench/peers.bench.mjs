/**
 * The same work by ONNX Runtime Web and TensorFlow.js (its WebAssembly backend), in the same process and in turns with
 * id2vec, one thread each: logits of one hidden vector over all rows (MatMul, MatMulNBits) and lookup of 2048 and 4096
 * ids (Gather, GatherBlockQuantized). The weights are not the same numbers, the sizes are: V × d, one scale per 32
 * weights.
 *
 * id2vec is there thrice: it leaves results in its own memory, which was allocated before (`EmbeddingTable.allocate`),
 * copies them to an array that is kept, or to a new one. ONNX Runtime hands out new arrays; TensorFlow.js leaves results
 * in its memory, and knows floats alone.
 *
 *   node tests/bench/peers.bench.mjs [--shape 50257x768] [--isa relaxed] [--rounds 15] [--clock wall|cpu]
 *                                    [--browser chromium] [--json]
 *
 * The peers are looked for where ID2VEC_PEERS points (`npm run bench` installs them there).
 */
import { benchOptions, describeRun } from './lib/options.mjs';
import { run } from './lib/run.mjs';

const kHead = ['median', 'minimum', 'id2vec is', 'new array'].map((name) => name.padStart(11)).join('');

function print({ format, isa, rows, cols, work, times }) {
  console.log(`\n${format} ${rows}x${cols}, ${isa}, ${work}`);
  const own = [times.id2vec.median, times['id2vec, new array'].median];
  for (const [name, { median, minimum }] of Object.entries(times)) {
    const ratios = name.startsWith('id2vec') ? [] : own.map((time) => `${(median / time).toFixed(1)}×`);
    const figures = [median.toFixed(3), minimum.toFixed(3), ...ratios];
    console.log(`  ${name.padEnd(20)}${figures.map((figure) => figure.padStart(11)).join('')}`);
  }
}

const options = benchOptions();
const results = [];
let engine;
await run('peers', options, {
  begin(name) {
    engine = name;
    if (!options.json)
      console.log(`${describeRun(options, engine)}\nmilliseconds\n${' '.repeat(22)}${kHead}`);
  },
  take(result) {
    if (!options.json) {
      if (results.length === 0) console.log(JSON.stringify(result.versions));
      print(result);
    }
    results.push(result);
  },
});
if (options.json)
  console.log(JSON.stringify({ engine, run: describeRun(options, engine), results }, null, 1));
