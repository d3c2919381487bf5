/**
 * What a training step costs when it touches 512 rows, for a table of 50,000 and one of 500,000 rows: lazy optimizers pay
 * for what they touch, so the ratio should be near 1. Medians, and the ratio of both within this run.
 *
 *   node tests/bench/training.bench.mjs
 */
import { EmbeddingModel } from '../../dist/index.js';

const kDim = 64;
const kTouched = 512;
const kSteps = 200;
const kSizes = [50_000, 500_000];
const optimizers = ['sgd', 'momentum', 'adagrad', 'rowwise-adagrad', 'adam', 'adamw'];

const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];

async function trainees(optimizer) {
  return Promise.all(
    kSizes.map(async (vocabSize) => {
      const model = await EmbeddingModel.create({ vocabSize, dim: kDim });
      // Ids spread over the whole table, the same rows in every step.
      const ids = Array.from({ length: kTouched }, (_, i) => Math.floor((i * vocabSize) / kTouched));
      return { model, trainer: model.trainer({ optimizer }), ids, times: [] };
    }),
  );
}

console.log(`node ${process.version}, d = ${kDim}, ${kTouched} rows touched, ${kSteps} steps; µs per step`);
for (const optimizer of optimizers) {
  const both = await trainees(optimizer);
  const gradient = new Float32Array(kTouched * kDim).fill(0.01);
  for (let step = 0; step < kSteps; step++) {
    for (const { trainer, ids, times } of both) {
      const start = performance.now();
      trainer.accumulate(ids, gradient);
      trainer.step();
      times.push(1000 * (performance.now() - start));
    }
  }
  const [small, large] = both.map(({ times }) => median(times));
  console.log(
    `${optimizer.padEnd(16)} V=${kSizes[0]}: ${small.toFixed(0)}   V=${kSizes[1]}: ${large.toFixed(0)}   ` +
      `ratio ${(large / small).toFixed(2)}   state ${(both[1].trainer.stateBytes / 1024).toFixed(0)} KiB`,
  );
  for (const { model, trainer } of both) {
    trainer.dispose();
    model.dispose();
  }
}
