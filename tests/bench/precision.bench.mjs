/**
 * How far logits are from double precision, per format and precision:
 *
 *   error    |logit − exact| ÷ Σ |w·h| of the row: greatest and root mean square over all rows and vectors
 *   top-1, top-10   vectors whose best row, and whose ten best rows in order, are those of the exact logits
 *
 * The exact logits are sums in double over the rows that lookup returns, which are the format's definition bit for
 * bit. Bounds on the same errors are asserted by tests/cpp/kernels_test.cpp.
 *
 *   node tests/bench/precision.bench.mjs [--formats Q8_0,Q4_K | all] [--isa simd128,relaxed] [--json]
 */
import { chosenFormats } from './lib/core.mjs';
import { benchOptions } from './lib/options.mjs';
import { modelLikeTable, randomFloats } from './lib/tables.mjs';

const kRows = 4096;
const kCols = 768;
const kVectors = 32;
const kBest = 10;

/** Exact logits and Σ |w·h|, both [vectors, rows]. */
function exactLogits(weights, hidden) {
  const logits = new Float64Array(kVectors * kRows);
  const magnitudes = new Float64Array(kVectors * kRows);
  for (let n = 0; n < kVectors; n++) {
    for (let row = 0; row < kRows; row++) {
      let sum = 0;
      let magnitude = 0;
      for (let i = 0; i < kCols; i++) {
        const product = weights[row * kCols + i] * hidden[n * kCols + i];
        sum += product;
        magnitude += Math.abs(product);
      }
      logits[n * kRows + row] = sum;
      magnitudes[n * kRows + row] = magnitude;
    }
  }
  return { logits, magnitudes };
}

function bestRows(scores) {
  const order = Array.from(scores.keys());
  return order.sort((a, b) => scores[b] - scores[a] || a - b).slice(0, kBest);
}

function compare(logits, exact) {
  let greatest = 0;
  let squares = 0;
  let first = 0;
  let ten = 0;
  for (let n = 0; n < kVectors; n++) {
    const from = n * kRows;
    for (let i = from; i < from + kRows; i++) {
      const error = Math.abs(logits[i] - exact.logits[i]) / exact.magnitudes[i];
      greatest = Math.max(greatest, error);
      squares += error * error;
    }
    const ours = bestRows(logits.subarray(from, from + kRows));
    const theirs = bestRows(exact.logits.subarray(from, from + kRows));
    first += ours[0] === theirs[0];
    ten += ours.every((row, i) => row === theirs[i]);
  }
  return { greatest, rms: Math.sqrt(squares / (kVectors * kRows)), first, ten };
}

const options = benchOptions();
const wanted = await chosenFormats(options.formats);
const hidden = randomFloats(kVectors * kCols, 17);
const results = [];
if (!options.json) {
  console.log(`${kRows} rows of ${kCols} weights, ${kVectors} random hidden vectors`);
  console.log('format  isa      precision   greatest        rms   top-1  top-10');
}
for (const format of wanted) {
  if (kCols % format.blockSize !== 0) continue;
  for (const isa of options.isas) {
    const table = await modelLikeTable(format, kRows, kCols, isa);
    const exact = exactLogits(table.lookup(Array.from({ length: kRows }, (_, id) => id)).data, hidden);
    for (const precision of ['high', 'fast']) {
      const result = compare(table.logits(hidden, { precision }).data, exact);
      results.push({ format: format.name, isa, precision, ...result });
      if (options.json) continue;
      const figures = [result.greatest, result.rms]
        .map((figure) => figure.toExponential(2).padStart(11))
        .join('');
      const ranks = [result.first, result.ten].map((count) => `${count}/${kVectors}`.padStart(8)).join('');
      console.log(`${format.name.padEnd(8)}${isa.padEnd(9)}${precision.padEnd(9)}${figures}${ranks}`);
    }
    table.dispose();
  }
}
if (options.json)
  console.log(JSON.stringify({ rows: kRows, cols: kCols, vectors: kVectors, results }, null, 1));
