// The models that come with the page; see models/README.md for where they are from.
import glove from '../../../models/glove-10k.F16.gguf?url';
import useLite from '../../../models/use-lite.Q8_0.gguf?url';

export interface DefaultModel {
  title: string;
  about: string;
  url: string;
  /** A text that makes a good first picture. */
  words: string;
}

export const defaultModels: DefaultModel[] = [
  {
    title: 'Sentence pieces',
    about: 'Universal Sentence Encoder Lite · 8,002 × 256 · Q8_0',
    url: useLite,
    words: 'What is the capital of France?',
  },
  {
    title: 'Words',
    about: 'GloVe, the 10,000 most frequent English words · 10,000 × 100 · F16',
    url: glove,
    words: 'king queen man woman paris france rome italy',
  },
];
