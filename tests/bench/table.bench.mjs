/**
 * Lookup and logits of every format, as fractions of what this engine does at best with the same memory:
 *
 *   logits   time of reading the table's bytes ÷ time of the logits
 *   lookup   time of copying the output's bytes ÷ time of the lookup
 *
 * What they are made of is measured alone, too: `rows` reads one word of each cache line of a lookup's rows, `write`
 * stores as many bytes as its output has, `lookup in order` has the same ids, sorted; `products` are those of the logits
 * of eight vectors at 16 bits, added up in registers. Everything of one format takes turns within one run. `high` and
 * `fast` are the two precisions; xN is the number of hidden vectors or ids.
 *
 *   node tests/bench/table.bench.mjs [--formats Q8_0,Q4_K | all] [--isa simd128,relaxed]
 *                                    [--shape 50257x768,32000x2048] [--rounds 15] [--clock wall|cpu]
 *                                    [--browser chromium] [--json]
 */
import { benchOptions, describeRun } from './lib/options.mjs';
import { run } from './lib/run.mjs';

const kHead = ['median', 'minimum', 'GB/s', 'ratio'].map((name) => name.padStart(10)).join('');

/** Bytes that something reads or writes at least. */
const bytesOf = (name, { bytes, outputBytes, rows, cols }) => {
  if (name === 'rows x4096') return (4096 * bytes) / rows;
  if (name === 'lookup x7') return 7 * cols * 4;
  return ['copy', 'write'].includes(name) || name.startsWith('lookup') ? outputBytes : bytes;
};

function print(result) {
  const { format, isa, rows, cols, bytes, times, ratios } = result;
  console.log(`\n${format} ${rows}x${cols} (${(bytes / 1e6).toFixed(1)} MB), ${isa}`);
  for (const [name, { median, minimum }] of Object.entries(times)) {
    const speed = bytesOf(name, result) / median / 1e6;
    const ratio = ratios[name]?.toFixed(2) ?? '';
    const figures = [median.toFixed(4), minimum.toFixed(4), speed.toFixed(2), ratio];
    console.log(`  ${name.padEnd(16)}${figures.map((figure) => figure.padStart(10)).join('')}`);
  }
}

const options = benchOptions();
const results = [];
let engine;
await run('table', options, {
  begin(name) {
    engine = name;
    if (!options.json) console.log(`${describeRun(options, engine)}\n${' '.repeat(18)}${kHead}`);
  },
  take(result) {
    results.push(result);
    if (!options.json) print(result);
  },
});
if (options.json)
  console.log(JSON.stringify({ engine, run: describeRun(options, engine), results }, null, 1));
