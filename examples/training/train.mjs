// Trains a tiny tied model on a village's worth of sentences: the mean of the words around a gap predicts the word in it
// (a continuous bag of words, Mikolov et al. 2013), and one table is both ends: pool → h → logits = h · Eᵀ.
//
//   node examples/training/train.mjs [--steps 600] [--seed 1] [--save words.gguf]
import { readFile, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';

import { train } from './words.mjs';

const { values: options } = parseArgs({
  options: {
    steps: { type: 'string', default: '600' },
    seed: { type: 'string', default: '1' },
    save: { type: 'string' },
  },
});

const text = await readFile(new URL('./village.txt', import.meta.url), 'utf8');
const onStep = ({ step, loss }) => {
  if (step % 50 === 0)
    console.log(`step ${String(step).padStart(4)}  loss ${loss.toFixed(3)}  ${'█'.repeat(loss * 8)}`);
};
const { model, words } = await train(text, {
  steps: Number(options.steps),
  seed: Number(options.seed),
  onStep,
});

for (const word of ['cat', 'girl', 'king', 'apple', 'monday', 'lake']) {
  const { indices } = await model.nearest(words.indexOf(word), 4);
  console.log(`${word.padEnd(8)} ${Array.from(indices, (id) => words[id]).join(' ')}`);
}
if (options.save !== undefined) await writeFile(options.save, await model.save('gguf'));
model.dispose();
