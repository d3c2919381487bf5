/** What table.bench.mjs measures; runs in Node and in browsers. */
import { chosenFormats } from './core.mjs';
import { measure } from './measure.mjs';
import { ownMemory } from './memory.mjs';
import { modelLikeTable, randomFloats, randomIds } from './tables.mjs';

const kIds = 4096;
const kFewIds = 7;
const kVectors = 8;
const kBest = 10;

/** One after the other: { format, isa, rows, cols, bytes, outputBytes, times, ratios } of a table. */
export async function* results(options) {
  const formats = await chosenFormats(options.formats);
  for (const [rows, cols] of options.shapes) {
    for (const format of formats) {
      if (cols % format.blockSize !== 0) continue;
      for (const isa of options.isas) yield benchTable(format, [rows, cols], isa, options);
    }
  }
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
  const inOrder = ids.slice().sort();
  const few = ids.subarray(0, kFewIds);
  const run = (vectors, precision) => () =>
    table.logits(vectors, { precision, out: logits.data.subarray(0, (vectors.length / cols) * rows) });
  const times = await measure(
    {
      read: () => memory.read(table.bytes),
      'rows x4096': memory.rows(ids, table.bytes / rows),
      copy: () => memory.copy(outputBytes),
      'high x1': run(one, 'high'),
      write: () => memory.write(outputBytes),
      'fast x1': run(one, 'fast'),
      'top10 x1': () => table.topK(one, kBest, { precision: 'fast' }),
      'high x8': run(hidden, 'high'),
      'products x8': () => memory.products(kVectors * rows * cols),
      'fast x8': run(hidden, 'fast'),
      'lookup x4096': () => table.lookup(ids, { out: rowsOut.data }),
      'lookup in order': () => table.lookup(inOrder, { out: rowsOut.data }),
      'lookup x7': () => table.lookup(few, { out: rowsOut.data.subarray(0, kFewIds * cols) }),
    },
    options,
  );
  const bytes = table.bytes;
  logits.dispose();
  rowsOut.dispose();
  table.dispose();
  return { format: format.name, isa, rows, cols, bytes, outputBytes, times, ratios: ratios(times) };
}

const kNoFractions = ['read', 'copy', 'rows x4096', 'write', 'products x8', 'lookup x7'];

/** Not of a few ids: what they take is not memory's doing. */
function ratios(times) {
  const names = Object.keys(times).filter((name) => !kNoFractions.includes(name));
  const limit = (name) => (name.startsWith('lookup') ? times.copy : times.read);
  return Object.fromEntries(names.map((name) => [name, limit(name).median / times[name].median]));
}
