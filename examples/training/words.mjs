// The model itself; runs in Node, in a page and in a worker alike.
import { EmbeddingModel } from 'id2vec';

const kDim = 32;
const kReach = 3; // words on each side of the gap
const kBatch = 64; // gaps per step

/**
 * @param {string} text sentences that end in a full stop
 * @param {{ steps: number, seed: number, onStep?: (progress: { step: number, loss: number }) => void }} options
 * @returns the trained model, its words (row i is words[i]) and the loss of every step
 */
export async function train(text, { steps, seed, onStep }) {
  const sentences = text
    .toLowerCase()
    .split('.')
    .map((sentence) => sentence.match(/[a-z]+/g) ?? [])
    .filter((sentence) => sentence.length > 1);
  const words = [...new Set(sentences.flat())];
  const idOf = new Map(words.map((word, id) => [word, id]));
  const gaps = sentences.flatMap((sentence) => gapsOf(sentence.map((word) => idOf.get(word))));

  const model = await EmbeddingModel.create({ vocabSize: words.length, dim: kDim, seed });
  const trainer = model.trainer({ optimizer: 'adam', learningRate: 0.02, clipNorm: 1 });
  const random = randomNumbers(seed);
  const losses = [];
  try {
    for (let step = 1; step <= steps; step++) {
      const batch = Array.from({ length: kBatch }, () => gaps[Math.floor(random() * gaps.length)]);
      losses.push(await learn(model, trainer, batch));
      onStep?.({ step, loss: losses.at(-1) });
    }
  } finally {
    trainer.dispose();
  }
  return { model, words, losses };
}

async function learn(model, trainer, batch) {
  const ids = batch.flatMap(({ around }) => around);
  const offsets = [];
  for (let i = 0, at = 0; i < batch.length; at += batch[i++].around.length) offsets.push(at);
  const bags = await model.pool(ids, { offsets, mode: 'mean' });
  const { loss, dHidden } = trainer.crossEntropy(
    bags,
    batch.map(({ word }) => word),
  );
  trainer.accumulatePool(ids, dHidden, { offsets, mode: 'mean' });
  trainer.step();
  return loss;
}

function gapsOf(sentence) {
  return sentence.map((word, i) => ({
    word,
    around: [...sentence.slice(Math.max(0, i - kReach), i), ...sentence.slice(i + 1, i + 1 + kReach)],
  }));
}

/** Numbers in [0, 1), the same for a seed on every machine (a linear congruential generator with Numerical Recipes' numbers). */
function randomNumbers(seed) {
  let state = seed >>> 0;
  return () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32;
}
