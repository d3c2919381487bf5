/**
 * The same work by ONNX Runtime Web, in the same process and in turns with id2vec: logits of one hidden vector over
 * all rows (MatMul, MatMulNBits) and lookup of 2048 ids (Gather, GatherBlockQuantized), one thread each. The weights
 * are not the same numbers, the sizes are: V × d, one scale per 32 weights. id2vec writes its results into memory that
 * was allocated before (`EmbeddingTable.allocate`); its peer has no such way and hands out copies.
 *
 *   node tests/bench/peers.bench.mjs [--shape 50257x768] [--rounds 15] [--clock wall|cpu] [--json]
 *
 * onnxruntime-web is looked for where ID2VEC_PEERS points (`npm run bench` installs it there).
 */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { blockFormats } from './lib/core.mjs';
import { oneNodeModel } from './lib/onnx.mjs';
import { benchOptions, describeRun } from './lib/options.mjs';
import { modelLikeTable, randomBytes, randomFloats } from './lib/tables.mjs';

const kIds = 2048;
const kBlock = 32;

async function importPeer(name) {
  const folder = process.env.ID2VEC_PEERS;
  if (folder === undefined) return undefined;
  try {
    const file = createRequire(join(folder, 'package.json')).resolve(name);
    return await import(pathToFileURL(file).href);
  } catch (error) {
    console.error(`${name} cannot be used: ${error.message}`);
    return undefined;
  }
}

function randomWeights(length, seed) {
  const next = randomBytes(seed);
  return Uint8Array.from({ length }, next);
}

/** Weights, and the two models over them. */
function onnxModels(bits, rows, cols) {
  if (bits === 32) {
    const table = randomFloats(rows * cols, 5);
    return {
      logits: {
        op: 'Gemm',
        inputs: ['x', 'w'],
        weights: { w: { dims: [rows, cols], data: table } },
        attributes: { transB: 1 },
      },
      lookup: {
        op: 'Gather',
        inputs: ['w', 'x'],
        weights: { w: { dims: [rows, cols], data: table } },
        ids: true,
      },
    };
  }
  const quants = randomWeights((rows * cols * bits) / 8, 5);
  const scales = new Float32Array((rows * cols) / kBlock).fill(0.01);
  const blocks = cols / kBlock;
  const domain = 'com.microsoft';
  return {
    logits: {
      op: 'MatMulNBits',
      domain,
      inputs: ['x', 'w', 's'],
      weights: {
        w: { dims: [rows, blocks, (kBlock * bits) / 8], data: quants },
        s: { dims: [rows * blocks], data: scales },
      },
      attributes: { K: cols, N: rows, bits, block_size: kBlock },
    },
    lookup: {
      op: 'GatherBlockQuantized',
      domain,
      inputs: ['w', 'x', 's'],
      weights: {
        w: { dims: [rows, (cols * bits) / 8], data: quants },
        s: { dims: [rows, blocks], data: scales },
      },
      attributes: { bits, block_size: kBlock, gather_axis: 0, quantize_axis: 1 },
      ids: true,
    },
  };
}

async function median(run, { rounds, clock }) {
  const times = [];
  await run();
  for (let round = 0; round < rounds; round++) {
    const wall = performance.now();
    const cpu = process.cpuUsage();
    await run();
    const used = process.cpuUsage(cpu);
    times.push(clock === 'cpu' ? (used.user + used.system) / 1000 : performance.now() - wall);
  }
  return times.sort((a, b) => a - b)[times.length >> 1];
}

async function benchPeer(ort, format, bits, [rows, cols], isa, options) {
  const models = onnxModels(bits, rows, cols);
  const table = await modelLikeTable(format, rows, cols, isa);
  const next = randomBytes(11);
  const ids = Uint32Array.from({ length: kIds }, () => ((next() << 16) | (next() << 8) | next()) % rows);
  const hidden = randomFloats(cols, 3);
  const inputs = {
    logits: new ort.Tensor('float32', hidden, [1, cols]),
    lookup: new ort.Tensor('int64', BigInt64Array.from(ids, BigInt), [kIds]),
  };
  const scores = table.allocate(rows);
  const vectors = table.allocate(kIds * cols);
  const ours = {
    logits: () => table.logits(hidden, { precision: 'high', out: scores.data }),
    lookup: () => table.lookup(ids, { out: vectors.data }),
  };
  const result = { format: format.name, bits, isa };
  for (const work of ['logits', 'lookup']) {
    const session = await ort.InferenceSession.create(oneNodeModel(models[work]));
    const theirs = await median(() => session.run({ x: inputs[work] }), options);
    const mine = await median(async () => ours[work](), options);
    result[work] = { id2vec: mine, peer: theirs, times: theirs / mine };
    await session.release();
  }
  scores.dispose();
  vectors.dispose();
  table.dispose();
  return result;
}

const options = benchOptions();
const ort = await importPeer('onnxruntime-web');
if (ort === undefined) {
  console.error('No peer is installed: nothing to compare.');
} else {
  ort.env.wasm.numThreads = 1;
  const formats = await blockFormats();
  const results = [];
  if (!options.json)
    console.log(`${describeRun(options)}\nonnxruntime-web ${ort.env.versions.web}; medians in ms`);
  for (const [name, bits] of [
    ['F32', 32],
    ['Q8_0', 8],
    ['Q4_0', 4],
  ]) {
    const format = formats.find((known) => known.name === name);
    const isa = options.isas.at(-1);
    const result = await benchPeer(ort, format, bits, options.shapes[0], isa, options);
    results.push(result);
    if (options.json) continue;
    for (const work of ['logits', 'lookup']) {
      const { id2vec, peer, times } = result[work];
      console.log(
        `${name.padEnd(6)}${work.padEnd(8)}id2vec ${id2vec.toFixed(2).padStart(8)}   ` +
          `ONNX Runtime Web ${peer.toFixed(2).padStart(8)}   ${times.toFixed(1)}× as fast`,
      );
    }
  }
  if (options.json) console.log(JSON.stringify({ run: describeRun(options), results }, null, 1));
}
