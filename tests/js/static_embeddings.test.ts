// Sentence vectors of published static embeddings, as model2vec itself computes them. Skipped without the corpus.
import { Tokenizer } from '@huggingface/tokenizers';
import { EmbeddingModel } from 'id2vec';
import { describe, expect, it } from 'vitest';
import { corpusFile, corpusPath, hasCorpus } from './corpus.js';

const folder = 'safetensors/model2vec';

async function json(name: string): Promise<unknown> {
  return JSON.parse(new TextDecoder().decode(await corpusFile(`${folder}/${name}`)));
}

async function sentenceVector(model: string, text: string): Promise<number[]> {
  const tokenizer = new Tokenizer((await json(`${model}/tokenizer.json`)) as object, {});
  const { ids } = tokenizer.encode(text, { add_special_tokens: false }) as { ids: number[] };
  using loaded = await EmbeddingModel.load(corpusPath(`${folder}/${model}/model.safetensors`));
  return Array.from((await loaded.pool(ids)).data);
}

const long = Array(1000).fill('hello').join(' ');
const cases = [
  { model: 'float32', text: 'hello world', expected: 'embeddings_short.json', digits: 5 },
  { model: 'float32', text: long, expected: 'embeddings_long.json', digits: 5 },
  { model: 'float16', text: 'hello world', expected: 'embeddings_short.json', digits: 3 },
  { model: 'vocab-quantized', text: long, expected: 'embeddings_vocab_quantized.json', digits: 5 },
];

describe.skipIf(!hasCorpus)('model2vec', () => {
  it.each(cases)('$model, $expected', async ({ model, text, expected, digits }) => {
    const [vector] = (await json(expected)) as number[][];
    const actual = await sentenceVector(model, text);
    expect(actual.length).toBe(vector!.length);
    vector!.forEach((value, i) => expect(actual[i], `column ${i}`).toBeCloseTo(value, digits));
  });

  it('reads the same rows under the name that sentence-transformers gives them', async () => {
    using model = await EmbeddingModel.load(corpusPath(`${folder}/sentence-transformers/model.safetensors`));
    const [vector] = (await json('embeddings_short.json')) as number[][];
    const tokenizer = new Tokenizer((await json('sentence-transformers/tokenizer.json')) as object, {});
    const { ids } = tokenizer.encode('hello world', { add_special_tokens: false }) as { ids: number[] };
    const { data } = await model.pool(ids, { normalize: true });
    vector!.forEach((value, i) => expect(data[i]).toBeCloseTo(value, 5));
  });
});
