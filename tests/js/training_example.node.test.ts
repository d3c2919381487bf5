// The example that trains: its loss falls, a seed decides everything, and words used alike end up near.
import { readFile } from 'node:fs/promises';
import { EmbeddingModel } from 'id2vec';
import { expect, test } from 'vitest';

interface Trained {
  model: EmbeddingModel;
  words: string[];
  losses: number[];
}
type Train = (text: string, options: { steps: number; seed: number }) => Promise<Trained>;

const example = new URL('../../examples/training/', import.meta.url);
const { train } = (await import(new URL('words.mjs', example).href)) as { train: Train };
const text = await readFile(new URL('village.txt', example), 'utf8');
const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

test('the loss falls and words used alike end up near', async () => {
  const { model, words, losses } = await train(text, { steps: 600, seed: 1 });
  using trained = model;
  // Untrained, every word is as likely as any other.
  expect(losses[0]).toBeCloseTo(Math.log(words.length), 0);
  expect(mean(losses.slice(-50))).toBeLessThan(0.65 * losses[0]!);
  for (const [word, like] of [
    ['cat', 'dog'],
    ['king', 'queen'],
    ['monday', 'tuesday'],
  ]) {
    const { indices } = await trained.nearest(words.indexOf(word!), 3);
    expect(Array.from(indices, (id) => words[id])).toContain(like);
  }
});

test('the same seed gives the same table, and a saved one loads again', async () => {
  const run = () => train(text, { steps: 20, seed: 5 });
  const [one, two] = [await run(), await run()];
  expect(two.losses).toEqual(one.losses);
  expect(await two.model.save()).toEqual(await one.model.save());
  using again = await EmbeddingModel.load(await one.model.save());
  expect(await again.save()).toEqual(await one.model.save());
  one.model.dispose();
  two.model.dispose();
});
