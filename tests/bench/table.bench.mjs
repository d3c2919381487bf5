/**
 * Lookup and logits of every format, as fractions of what this engine does at best with the same memory:
 *
 *   logits   time of reading the table's bytes ÷ time of the logits
 *   lookup   time of copying the output's bytes ÷ time of the lookup
 *
 * Everything of one format takes turns within one run. `high` and `fast` are the two precisions; xN is the number of
 * hidden vectors or ids.
 *
 *   node tests/bench/table.bench.mjs [--formats Q8_0,Q4_K | all] [--isa simd128,relaxed] [--shape 50257x768]
 *                                    [--rounds 15] [--clock wall|cpu] [--json]
 */
import { blockFormats } from './lib/core.mjs';
import { measure } from './lib/measure.mjs';
import { ownMemory } from './lib/memory.mjs';
import { benchOptions, describeRun } from './lib/options.mjs';
import { modelLikeTable, randomBytes, randomFloats } from './lib/tables.mjs';

const kIds = 4096;
const kFewIds = 7;
const kVectors = 8;
const kBest = 10;

function randomIds(count, rows) {
  const next = randomBytes(7);
  return Uint32Array.from({ length: count }, () => ((next() << 16) | (next() << 8) | next()) % rows);
}

async function benchTable(format, [rows, cols], isa, options) {
  const table = await modelLikeTable(format, rows, cols, isa);
  const outputBytes = kIds * cols * 4;
  const memory = await ownMemory(Math.max(table.bytes, 2 * outputBytes));
  const logits = table.allocate(kVectors * rows);
  const rowsOut = table.allocate(kIds * cols);
  const hidden = randomFloats(kVectors * cols, 3);
  const one = hidden.subarray(0, cols);
  const ids = randomIds(kIds, rows);
  const few = ids.subarray(0, kFewIds);
  const run = (vectors, precision) => () =>
    table.logits(vectors, { precision, out: logits.data.subarray(0, (vectors.length / cols) * rows) });
  const times = measure(
    {
      read: () => memory.read(table.bytes),
      copy: () => memory.copy(outputBytes),
      'high x1': run(one, 'high'),
      'fast x1': run(one, 'fast'),
      'top10 x1': () => table.topK(one, kBest, { precision: 'fast' }),
      'high x8': run(hidden, 'high'),
      'fast x8': run(hidden, 'fast'),
      'lookup x4096': () => table.lookup(ids, { out: rowsOut.data }),
      'lookup x7': () => table.lookup(few, { out: rowsOut.data.subarray(0, kFewIds * cols) }),
    },
    options,
  );
  const bytes = table.bytes;
  logits.dispose();
  rowsOut.dispose();
  table.dispose();
  return { format: format.name, isa, rows, cols, bytes, times, ratios: ratios(times) };
}

function ratios({ read, copy, ...rest }) {
  const entries = Object.entries(rest).map(([name, { median }]) => [
    name,
    (name.startsWith('lookup') ? copy.median : read.median) / median,
  ]);
  return Object.fromEntries(entries);
}

function print({ format, isa, rows, cols, bytes, times, ratios: of }) {
  const gigabytes = (time) => (bytes / time / 1e6).toFixed(1);
  const column = (name) => `${times[name].median.toFixed(2)} ${of[name].toFixed(2)}`.padStart(11);
  const few = `${(times['lookup x7'].median * 1000).toFixed(0)} µs`.padStart(8);
  console.log(
    `${format.padEnd(8)}${isa.padEnd(9)}${`${rows}x${cols}`.padEnd(13)}` +
      `${times.read.median.toFixed(2).padStart(6)}${gigabytes(times.read.median).padStart(6)}` +
      ['high x1', 'fast x1', 'top10 x1', 'high x8', 'fast x8'].map(column).join('') +
      `${times.copy.median.toFixed(2).padStart(7)}${column('lookup x4096')}${few}`,
  );
}

const options = benchOptions();
const known = await blockFormats();
const wanted =
  options.formats === 'all' ? known : known.filter(({ name }) => options.formats.split(',').includes(name));
const results = [];
if (!options.json) {
  console.log(describeRun(options));
  console.log('Milliseconds (medians), each followed by its ratio; read: milliseconds and GB/s.');
  console.log(
    `${'format'.padEnd(8)}${'isa'.padEnd(9)}${'shape'.padEnd(13)}${'read'.padStart(6)}${'GB/s'.padStart(6)}` +
      ['high x1', 'fast x1', 'top10 x1', 'high x8', 'fast x8'].map((name) => name.padStart(11)).join('') +
      `${'copy'.padStart(7)}${'x4096'.padStart(11)}${'x7'.padStart(8)}`,
  );
}
for (const shape of options.shapes) {
  for (const format of wanted) {
    if (shape[1] % format.blockSize !== 0) continue;
    for (const isa of options.isas) {
      const result = await benchTable(format, shape, isa, options);
      results.push(result);
      if (!options.json) print(result);
    }
  }
}
if (options.json) console.log(JSON.stringify({ run: describeRun(options), results }, null, 1));
