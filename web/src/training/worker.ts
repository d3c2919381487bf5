// Trains the example's table away from the page's thread and tells how it goes.
import text from '../../../examples/training/village.txt?raw';
import { train } from '../../../examples/training/words.mjs';

export interface Report {
  losses: number[];
  /** Set at the end: words and their nearest neighbours. */
  neighbours?: { word: string; near: string[] }[];
}

const kShown = ['cat', 'girl', 'king', 'apple', 'monday', 'lake'];
const kEvery = 10;

addEventListener('message', ({ data: { steps, seed } }: MessageEvent<{ steps: number; seed: number }>) => {
  void run(steps, seed);
});

async function run(steps: number, seed: number): Promise<void> {
  const losses: number[] = [];
  const onStep = ({ step, loss }: { step: number; loss: number }) => {
    losses.push(loss);
    if (step % kEvery === 0) postMessage({ losses } satisfies Report);
  };
  const { model, words } = await train(text, { steps, seed, onStep });
  const neighbours = [];
  for (const word of kShown) {
    const { indices } = await model.nearest(words.indexOf(word), 3);
    neighbours.push({ word, near: Array.from(indices, (id) => words[id]!) });
  }
  postMessage({ losses, neighbours } satisfies Report);
  model.dispose();
}
