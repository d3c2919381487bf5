// The best rows of real tables, in each format that the package encodes: those that double precision finds.
import { EmbeddingModel, EmbeddingTable } from 'id2vec';
import { describe, expect, test } from 'vitest';
import { corpusPath, hasCorpus, projectPath } from './corpus.js';

const kFormats = ['F16', 'BF16', 'Q8_0', 'Q4_0', 'Q4_K', 'Q6_K'];
const kBlocks: Record<string, number> = { Q8_0: 32, Q4_0: 32, Q4_K: 256, Q6_K: 256 };
const kBest = 10;
/** Hidden vectors: so many rows of the table, and as many sums of rows. */
const kRows = 16;

const ours = ['use-lite.Q8_0.gguf', 'glove-10k.F16.gguf'].map((name) => projectPath(`models/${name}`));
const others = [
  'safetensors/model2vec/float32/model.safetensors',
  'safetensors/model2vec/vocab-quantized/model.safetensors',
  'gguf/stories260K.gguf',
];

describe.each(ours)('%s', rankings);
describe.skipIf(!hasCorpus).each(others)('%s', (name) => rankings(corpusPath(name)));

function rankings(path: string): void {
  test.for(kFormats)(
    `%s: top 1 and top ${kBest} of "high" are those of double precision`,
    { timeout: 60_000 },
    async (format, { skip }) => {
      using model = await EmbeddingModel.load(path);
      const { vocabSize, dim } = model;
      if (dim % (kBlocks[format] ?? 1) !== 0) return skip(`rows of ${dim} weights are no whole blocks`);
      const rows = model.table!.lookup(everyId(vocabSize)).data;
      const hidden = hiddenVectors(rows, vocabSize, dim);
      using floats = await EmbeddingTable.create(rows, { dtype: 'F32', dim });
      using table = await floats.quantize(format);
      compare(table, hidden, exactRankings(table, hidden));
    },
  );
}

/** What double precision finds for one hidden vector, over the rows as the format has them. */
interface Ranking {
  logits: Float64Array;
  best: number[];
  /** Of the error of a row's logit. */
  boundOf(row: number): number;
}

function exactRankings(table: EmbeddingTable, hidden: Float32Array): Ranking[] {
  const { dim, vocabSize, dtype } = table;
  const weights = table.lookup(everyId(vocabSize)).data;
  return Array.from({ length: hidden.length / dim }, (_, n) => {
    const h = hidden.subarray(n * dim, (n + 1) * dim);
    const logits = exactLogits(weights, h);
    return { logits, best: bestOf(logits), boundOf: (row) => boundOf(weights, row, h, dtype) };
  });
}

function compare(table: EmbeddingTable, hidden: Float32Array, exact: readonly Ranking[]): void {
  const { dtype, isa } = table;
  const { indices } = table.topK(hidden, kBest, { precision: 'high' });
  exact.forEach(({ logits, best, boundOf }, n) => {
    const found = Array.from(indices.subarray(n * kBest, (n + 1) * kBest));
    expect(new Set(found).size, `${dtype}, ${isa}, vector ${n}: no id twice`).toBe(kBest);
    found.forEach((id, place) => {
      const expected = best[place]!;
      if (id === expected) return;
      // Two rows may change places where their logits are nearer to each other than the bounds of both.
      const distance = Math.abs(logits[expected]! - logits[id]!);
      const bounds = boundOf(expected) + boundOf(id);
      expect(distance, `${dtype}, ${isa}, vector ${n}: ${id} at place ${place}`).toBeLessThanOrEqual(bounds);
    });
  });
}

const everyId = (count: number) => Uint32Array.from({ length: count }, (_, id) => id);

/** Rows from all over the table, then sums of two to nine of them. */
function hiddenVectors(rows: Float32Array, vocabSize: number, dim: number): Float32Array {
  const hidden = new Float32Array(2 * kRows * dim);
  for (let n = 0; n < kRows; n++) {
    for (let term = 0; term < 2 + (n % 8); term++) {
      const id = (n * 7919 + term * 104729 + 13) % vocabSize;
      for (let i = 0; i < dim; i++) {
        const weight = rows[id * dim + i]!;
        if (term === 0) hidden[n * dim + i] = weight;
        hidden[(kRows + n) * dim + i]! += weight;
      }
    }
  }
  return hidden;
}

/** Sums in double precision over the rows as the format has them. */
function exactLogits(weights: Float32Array, hidden: Float32Array): Float64Array {
  const dim = hidden.length;
  const logits = new Float64Array(weights.length / dim);
  for (let row = 0; row < logits.length; row++) {
    let sum = 0;
    for (let i = 0, at = row * dim; i < dim; i++) sum += weights[at + i]! * hidden[i]!;
    logits[row] = sum;
  }
  return logits;
}

/** The ids of the greatest, ties by the lower id. */
function bestOf(logits: Float64Array): number[] {
  const best: number[] = [];
  logits.forEach((logit, id) => {
    if (best.length === kBest && logit <= logits[best.at(-1)!]!) return;
    const after = best.findIndex((other) => logits[other]! < logit);
    best.splice(after < 0 ? best.length : after, 0, id);
    best.length = Math.min(best.length, kBest);
  });
  return best;
}

/** Of the error of a logit at `high`, as kernels/v128_activations.h and tests/cpp/kernels_test.cpp state it. */
function boundOf(weights: Float32Array, row: number, hidden: Float32Array, dtype: string): number {
  const dim = hidden.length;
  const group = 32;
  let bound = 0;
  let products = 0;
  for (let start = 0; start < dim; start += group) {
    let greatest = 0;
    let sum = 0;
    for (let i = start; i < Math.min(start + group, dim); i++) {
      const weight = Math.abs(weights[row * dim + i]!);
      greatest = Math.max(greatest, Math.abs(hidden[i]!));
      sum += weight;
      products += weight * Math.abs(hidden[i]!);
    }
    if (dtype in kBlocks) bound += (greatest / (2 * 32639)) * sum;
  }
  return bound + 2 ** -23 * (dim / 4 + 16) * products;
}
