// Loads a table of zeros again and again, each time once to its half and once to the end, and prints by how many bytes
// the process has grown. A process of its own, because a test runner holds on to much.
//   node --expose-gc stopped_loads.mjs HEADER.gguf BYTES TIMES RESIDENCY
import { readFile } from 'node:fs/promises';
import { EmbeddingModel } from '../../../dist/index.js';

const [header, bytes, times] = [
  await readFile(process.argv[2]),
  Number(process.argv[3]),
  Number(process.argv[4]),
];
const options = { residency: process.argv[5], workers: 2 };

const source = () => ({
  byteLength: header.length + bytes,
  slice(start, end) {
    const piece = new Uint8Array(end - start);
    if (start < header.length) piece.set(header.subarray(start, Math.min(end, header.length)));
    return piece;
  },
});

async function stopHalfWay() {
  const controller = new AbortController();
  const onProgress = ({ loaded, total }) => {
    if (total > 0 && loaded > total / 2) controller.abort(new Error('enough'));
  };
  try {
    await EmbeddingModel.load(source(), { ...options, signal: controller.signal, onProgress });
    throw new Error('the load went on');
  } catch (error) {
    if (error.message !== 'enough') throw error;
  }
}

async function size() {
  globalThis.gc();
  await new Promise((resolve) => setTimeout(resolve, 20));
  globalThis.gc();
  return process.memoryUsage().rss;
}

(await EmbeddingModel.load(source(), options)).dispose();
const before = await size();
let after = before;
for (let i = 0; i < times; i++) {
  await stopHalfWay();
  (await EmbeddingModel.load(source(), options)).dispose();
  after = await size();
}
console.log(after - before);
