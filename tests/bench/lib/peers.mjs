/** What peers.bench.mjs measures; runs in Node and in browsers. */
import { chosenFormats } from './core.mjs';
import { measure } from './measure.mjs';
import { oneNodeModel } from './onnx.mjs';
import { openOnnxRuntime, openTensorFlow } from './peer_packages.mjs';
import { modelLikeTable, randomBytes, randomFloats, randomIds } from './tables.mjs';

const kBlock = 32;
const kBits = { F32: 32, Q8_0: 8, Q4_0: 4 };
const kLookups = [2048, 4096];

/**
 * { format, isa, rows, cols, work, versions, times } for each format and work: `logits`, `lookup x2048`, … . Times have
 * id2vec thrice (results left in its memory, which was allocated before; copied to an array that is kept; in a new array)
 * and each peer that is there.
 */
export async function* results(options) {
  const peers = [onnxRuntime(await openOnnxRuntime()), tensorFlow(await openTensorFlow())];
  const there = peers.filter((peer) => peer !== undefined);
  const versions = Object.fromEntries(there.map(({ name, version }) => [name, version]));
  const isa = options.isas.at(-1);
  const [rows, cols] = options.shapes[0];
  for (const format of await chosenFormats(Object.keys(kBits).join(','))) {
    const weights = makeWeights(kBits[format.name], rows, cols);
    const table = await modelLikeTable(format, rows, cols, isa);
    for (const work of ['logits', ...kLookups.map((count) => `lookup x${count}`)]) {
      const task = makeTask(work, weights);
      const own = ourCalls(table, task);
      const calls = { ...own.calls };
      const open = [];
      for (const peer of there) {
        const prepared = await peer.prepare(task);
        if (prepared === undefined) continue;
        open.push(prepared);
        calls[peer.name] = prepared.run;
      }
      const times = await measure(calls, options);
      for (const { close } of [own, ...open]) await close();
      yield { format: format.name, isa, rows, cols, work, versions, times };
    }
    table.dispose();
  }
}

/** The same sizes as id2vec's table, other numbers: one scale per 32 weights where they are no floats. */
function makeWeights(bits, rows, cols) {
  if (bits === 32) return { bits, rows, cols, floats: randomFloats(rows * cols, 5) };
  const quants = Uint8Array.from({ length: (rows * cols * bits) / 8 }, randomBytes(5));
  return { bits, rows, cols, quants, scales: new Float32Array((rows * cols) / kBlock).fill(0.01) };
}

function makeTask(work, weights) {
  if (work === 'logits') return { weights, hidden: randomFloats(weights.cols, 3) };
  return { weights, ids: randomIds(Number(work.slice('lookup x'.length)), weights.rows) };
}

function ourCalls(table, { hidden, ids }) {
  const out = table.allocate(ids ? ids.length * table.dim : table.vocabSize);
  const kept = new Float32Array(out.length);
  const run = ids
    ? (options) => table.lookup(ids, options)
    : (options) => table.logits(hidden, { precision: 'high', ...options });
  return {
    calls: {
      id2vec: () => run({ out: out.data }),
      'id2vec, kept array': () => run({ out: kept }),
      'id2vec, new array': () => run({}),
    },
    close: () => out.dispose(),
  };
}

function onnxRuntime(ort) {
  if (ort === undefined) return undefined;
  const prepare = async ({ weights, hidden, ids }) => {
    const session = await ort.InferenceSession.create(oneNodeModel(ids ? gather(weights) : product(weights)));
    const x = ids
      ? new ort.Tensor('int64', BigInt64Array.from(ids, BigInt), [ids.length])
      : new ort.Tensor('float32', hidden, [1, hidden.length]);
    return { run: () => session.run({ x }), close: () => session.release() };
  };
  return { name: 'onnxruntime-web', version: ort.env.versions.web, prepare };
}

const kDomain = 'com.microsoft';

function product({ bits, rows, cols, floats, quants, scales }) {
  if (bits === 32) {
    const w = { dims: [rows, cols], data: floats };
    return { op: 'Gemm', inputs: ['x', 'w'], weights: { w }, attributes: { transB: 1 } };
  }
  return {
    op: 'MatMulNBits',
    domain: kDomain,
    inputs: ['x', 'w', 's'],
    weights: {
      w: { dims: [rows, cols / kBlock, (kBlock * bits) / 8], data: quants },
      s: { dims: [(rows * cols) / kBlock], data: scales },
    },
    attributes: { K: cols, N: rows, bits, block_size: kBlock },
  };
}

function gather({ bits, rows, cols, floats, quants, scales }) {
  if (bits === 32) {
    const w = { dims: [rows, cols], data: floats };
    return { op: 'Gather', inputs: ['w', 'x'], weights: { w }, ids: true };
  }
  return {
    op: 'GatherBlockQuantized',
    domain: kDomain,
    inputs: ['w', 'x', 's'],
    weights: {
      w: { dims: [rows, (cols * bits) / 8], data: quants },
      s: { dims: [rows, cols / kBlock], data: scales },
    },
    attributes: { bits, block_size: kBlock, gather_axis: 0, quantize_axis: 1 },
    ids: true,
  };
}

/**
 * Floats alone. Its product is six times as fast with the table transposed, so it gets a transposed one (random numbers
 * are as good that way round), and its results stay in its memory.
 */
function tensorFlow(tf) {
  if (tf === undefined) return undefined;
  const prepare = async ({ weights: { bits, rows, cols, floats }, hidden, ids }) => {
    if (bits !== 32) return undefined;
    const w = tf.tensor2d(floats, ids ? [rows, cols] : [cols, rows]);
    const x = ids ? tf.tensor1d(Int32Array.from(ids), 'int32') : tf.tensor2d(hidden, [1, cols]);
    return {
      run: () => (ids ? tf.gather(w, x) : tf.matMul(x, w)).dispose(),
      close: () => tf.dispose([w, x]),
    };
  };
  return { name: 'tfjs-backend-wasm', version: tf.version_core, prepare };
}
