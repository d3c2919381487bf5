/**
 * Pooling of sentences: id2vec, a plain loop over a Float32Array, and ONNX Runtime Web (which gathers; the mean of its
 * rows is a loop), in turns and on one thread. F32 rows, so that all three read the same numbers.
 *
 *   node tests/bench/pool.bench.mjs [--rounds 15]
 *
 * onnxruntime-web is looked for where ID2VEC_PEERS points (`npm run bench` installs it there), else beside the project.
 */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { EmbeddingModel } from '../../dist/index.js';
import { describeEngine } from './lib/engine.mjs';
import { oneNodeModel } from './lib/onnx.mjs';
import { benchOptions, describeRun } from './lib/options.mjs';

const [rows, cols, sentences, words] = [30000, 256, 4096, 16];

function safetensors(dtype, bytes) {
  const header = JSON.stringify({
    'embedding.weight': { dtype, shape: [rows, cols], data_offsets: [0, bytes.length] },
  });
  const file = new Uint8Array(8 + header.length + bytes.length);
  new DataView(file.buffer).setBigUint64(0, BigInt(header.length), true);
  file.set(new TextEncoder().encode(header), 8);
  file.set(bytes, 8 + header.length);
  return file;
}

function poolPlain(table, ids, out) {
  for (let s = 0; s < sentences; s++) {
    const sum = out.subarray(s * cols, (s + 1) * cols).fill(0);
    for (let w = 0; w < words; w++) {
      const row = ids[s * words + w] * cols;
      for (let c = 0; c < cols; c++) sum[c] += table[row + c];
    }
    for (let c = 0; c < cols; c++) sum[c] /= words;
  }
}

function meanOfRuns(gathered, out) {
  for (let s = 0; s < sentences; s++) {
    const sum = out.subarray(s * cols, (s + 1) * cols).fill(0);
    for (let w = 0; w < words; w++) {
      const row = (s * words + w) * cols;
      for (let c = 0; c < cols; c++) sum[c] += gathered[row + c];
    }
    for (let c = 0; c < cols; c++) sum[c] /= words;
  }
}

async function onnxRuntime() {
  const folder = process.env.ID2VEC_PEERS;
  const from = folder === undefined ? import.meta.url : join(folder, 'package.json');
  try {
    const ort = await import(pathToFileURL(createRequire(from).resolve('onnxruntime-web')).href);
    ort.env.wasm.numThreads = 1;
    return ort;
  } catch (error) {
    console.error(`onnxruntime-web cannot be used: ${error.message}`);
    return undefined;
  }
}

const { rounds } = benchOptions();
console.log(describeRun({ rounds, clock: 'wall' }, describeEngine()));
let state = 1;
const next = () => (state = (Math.imul(state, 1103515245) + 12345) >>> 0);
const table = Float32Array.from({ length: rows * cols }, () => next() / 2 ** 32 - 0.5);
const ids = Uint32Array.from({ length: sentences * words }, () => next() % rows);
const offsets = Uint32Array.from({ length: sentences }, (_, s) => s * words);
const out = new Float32Array(sentences * cols);
const model = await EmbeddingModel.load(safetensors('F32', new Uint8Array(table.buffer)));

const things = {
  'id2vec pool, F32': () => model.pool(ids, { offsets, out }),
  'plain loop over a Float32Array': () => poolPlain(table, ids, out),
};
const ort = await onnxRuntime();
if (ort !== undefined) {
  const gather = {
    op: 'Gather',
    inputs: ['w', 'x'],
    weights: { w: { dims: [rows, cols], data: table } },
    ids: true,
  };
  const session = await ort.InferenceSession.create(oneNodeModel(gather));
  const x = new ort.Tensor('int64', BigInt64Array.from(ids, BigInt), [ids.length]);
  things['onnxruntime-web Gather + loop'] = async () => meanOfRuns((await session.run({ x })).y.data, out);
}

const times = Object.fromEntries(Object.keys(things).map((name) => [name, []]));
for (let round = -1; round < rounds; round++) {
  for (const [name, thing] of Object.entries(things)) {
    const start = performance.now();
    await thing();
    if (round >= 0) times[name].push(performance.now() - start);
  }
}
console.log(`${sentences} sentences of ${words} ids, table [${rows}, ${cols}]`);
for (const [name, list] of Object.entries(times)) {
  const median = list.sort((a, b) => a - b)[list.length >> 1];
  const perSecond = Math.round((sentences / median) * 1000).toLocaleString('en-US');
  console.log(
    `${name.padEnd(34)} ${median.toFixed(2).padStart(8)} ms  ${perSecond.padStart(12)} sentences/s`,
  );
}
model.dispose();
