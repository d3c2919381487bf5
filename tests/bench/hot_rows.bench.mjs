/**
 * Would a cache of dequantized rows pay? The most it can gain, without building one: `table` is a lookup in the quantized
 * table, `hit` a lookup of as many rows in an F32 table that is no larger than the cache (what a hit costs when finding
 * the row costs nothing), `hits` the share of hits of a least-recently-used cache over ids as text has them (Zipf's law,
 * exponent 1). The gain is the time without a cache over the time with one; a miss costs the table's lookup and one copy.
 *
 *   node tests/bench/hot_rows.bench.mjs [--formats Q6_K,IQ2_S | all] [--isa simd128] [--shape 50257x768]
 *                                       [--rounds 15] [--clock wall|cpu] [--json]
 */
import { describeEngine } from './lib/engine.mjs';
import { blockFormats } from './lib/core.mjs';
import { measure } from './lib/measure.mjs';
import { benchOptions, describeRun } from './lib/options.mjs';
import { modelLikeTable, randomBytes } from './lib/tables.mjs';

const kIds = 4096;
const kCacheBytes = [1 << 20, 4 << 20, 16 << 20];
const kDrawn = 100_000;

/** Ids of a text: id r comes with a frequency of 1 / (r + 1). */
function zipfIds(count, rows) {
  const next = randomBytes(11);
  const sums = new Float64Array(rows);
  for (let r = 0, sum = 0; r < rows; r++) sums[r] = sum += 1 / (r + 1);
  return Uint32Array.from({ length: count }, () => {
    const at = (((next() << 16) | (next() << 8) | next()) / 2 ** 24) * sums[rows - 1];
    let [low, high] = [0, rows - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (sums[middle] < at) low = middle + 1;
      else high = middle;
    }
    return low;
  });
}

/** Share of hits once the cache is full, or the stream is over. */
function hitShare(ids, slots) {
  const cache = new Map();
  let hits = 0;
  const warm = ids.length >> 1;
  ids.forEach((id, at) => {
    const hit = cache.delete(id);
    cache.set(id, true);
    if (cache.size > slots) cache.delete(cache.keys().next().value);
    if (hit && at >= warm) hits++;
  });
  return hits / (ids.length - warm);
}

async function benchFormat(format, [rows, cols], isa, ids, options) {
  const table = await modelLikeTable(format, rows, cols, isa);
  const [f32] = known.filter(({ name }) => name === 'F32');
  const caches = [];
  for (const bytes of kCacheBytes) {
    const slots = Math.floor(bytes / (4 * cols));
    caches.push({
      bytes,
      slots,
      rows: await modelLikeTable(f32, slots, cols, isa),
      hits: hitShare(ids, slots),
    });
  }
  const few = ids.subarray(0, kIds);
  const out = table.allocate(kIds * cols);
  const outs = caches.map((cache) => cache.rows.allocate(kIds * cols));
  const things = { table: () => table.lookup(few, { out: out.data }) };
  caches.forEach((cache, i) => {
    const places = few.map((id) => id % cache.slots);
    things[`hit ${cache.bytes >> 20} MB`] = () => cache.rows.lookup(places, { out: outs[i].data });
  });
  const times = await measure(things, options);
  const nanoseconds = (name) => (times[name].median * 1e6) / kIds;
  const result = {
    format: format.name,
    isa,
    rows,
    cols,
    table: nanoseconds('table'),
    caches: caches.map(({ bytes, hits }) => {
      const hit = nanoseconds(`hit ${bytes >> 20} MB`);
      const gain = nanoseconds('table') / (hits * hit + (1 - hits) * (nanoseconds('table') + hit));
      return { bytes, hits, hit, gain };
    }),
  };
  for (const each of [out, ...outs, table, ...caches.map((cache) => cache.rows)]) each.dispose();
  return result;
}

function print({ format, isa, rows, cols, table, caches }) {
  const columns = caches.map(({ hits, hit, gain }) =>
    `${hit.toFixed(0)} ns ${(100 * hits).toFixed(0)} % ×${gain.toFixed(2)}`.padStart(20),
  );
  console.log(
    `${format.padEnd(9)}${isa.padEnd(9)}${`${rows}x${cols}`.padEnd(13)}${`${table.toFixed(0)} ns`.padStart(9)}${columns.join('')}`,
  );
}

const options = benchOptions();
const known = await blockFormats();
const wanted = known.filter(
  ({ name }) => options.formats === 'all' || options.formats.split(',').includes(name),
);
const results = [];
if (!options.json) {
  console.log(describeRun(options, describeEngine()));
  console.log(
    `${kIds} ids a call. For each size of cache: time of a hit per row, share of hits, gain at most.`,
  );
  const heads = kCacheBytes.map((bytes) => `${bytes >> 20} MB`.padStart(20)).join('');
  console.log(`${'format'.padEnd(9)}${'isa'.padEnd(9)}${'shape'.padEnd(13)}${'table'.padStart(9)}${heads}`);
}
for (const shape of options.shapes) {
  const ids = zipfIds(kDrawn, shape[0]);
  for (const format of wanted) {
    if (shape[1] % format.blockSize !== 0) continue;
    for (const isa of options.isas) {
      const result = await benchFormat(format, shape, isa, ids, options);
      results.push(result);
      if (!options.json) print(result);
    }
  }
}
if (options.json)
  console.log(JSON.stringify({ run: describeRun(options, describeEngine()), results }, null, 1));
