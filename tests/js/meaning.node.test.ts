// Tables whose meaning everybody knows: word vectors, and sentences of an encoder's table.
import { EmbeddingModel } from 'id2vec';
import { beforeAll, describe, expect, it } from 'vitest';
import { corpusFile, hasCorpus } from './corpus.js';
import { safetensors } from './files/safetensors.js';
import { useLiteTable, useLiteTokenizer } from './files/use_lite.js';

describe.skipIf(!hasCorpus)('10,000 word vectors', () => {
  let words: string[];
  let vectors: number[][];
  let model: EmbeddingModel;
  beforeAll(async () => {
    const text = new TextDecoder().decode(await corpusFile('json/wink-sg-100d.sub10000.json'));
    const table = (JSON.parse(text) as { vectors: Record<string, number[]> }).vectors;
    // A word may be `constructor`: entries, and never a look-up in the object.
    const entries = Object.entries(table).sort(([, a], [, b]) => a[101]! - b[101]!);
    words = entries.map(([word]) => word);
    vectors = entries.map(([, values]) => values.slice(0, 100));
    const data = new Uint8Array(Float32Array.from(vectors.flat()).buffer);
    model = await EmbeddingModel.load(
      safetensors([{ name: 'embedding.weight', dtype: 'F32', shape: [words.length, 100], data }]),
    );
    return () => model.dispose();
  });
  const id = (word: string) => words.indexOf(word);

  it.each([
    ['king', 'man', 'woman', 'queen'],
    ['paris', 'france', 'italy', 'rome'],
  ])('%s − %s + %s is %s', async (a, minus, b, expected) => {
    const { indices } = await model.analogy({ positive: [id(a), id(b)], negative: [id(minus)] }, 1);
    expect(words[indices[0]!]).toBe(expected);
  });

  it('finds the neighbours that a plain computation finds', async () => {
    const query = vectors[id('france')]!;
    const length = (v: number[]) => Math.sqrt(v.reduce((sum, x) => sum + x * x, 0));
    const cosines = vectors.map(
      (v) => v.reduce((sum, x, i) => sum + x * query[i]!, 0) / (length(v) * length(query)),
    );
    const order = [...cosines.keys()]
      .filter((i) => i !== id('france'))
      .sort((a, b) => cosines[b]! - cosines[a]!);
    const { values, indices } = await model.nearest(id('france'), 10);
    expect(Array.from(indices)).toEqual(order.slice(0, 10));
    values.forEach((value, i) => expect(value).toBeCloseTo(cosines[order[i]!]!, 5));
  });
});

describe("an encoder's table", () => {
  const sentences = [
    'the cat sleeps on the sofa',
    'a dog is sleeping in the garden',
    'stock prices fell sharply on friday',
    'the central bank raised interest rates',
    'my cat likes to nap on the couch',
    'how do i bake bread at home',
  ];

  it('brings similar sentences together', async () => {
    const tokenize = await useLiteTokenizer();
    using model = await EmbeddingModel.load(await useLiteTable());
    expect([model.vocabSize, model.dim]).toEqual([8002, 256]);
    await model.weighByFrequency(1e-3);
    const ids = sentences.map(tokenize);
    const offsets = ids.map((_, i) => ids.slice(0, i).reduce((sum, list) => sum + list.length, 0));
    const pooled = await model.pool(ids.flat(), { offsets, normalize: true });
    const { data } = await model.similarity(pooled);
    const closest = (i: number) =>
      [...sentences.keys()]
        .filter((j) => j !== i)
        .sort((a, b) => data[i * 6 + b]! - data[i * 6 + a]!)
        .map((j) => sentences[j]!)[0];
    expect(closest(4)).toBe(sentences[0]);
    expect(closest(0)).toBe(sentences[4]);
    expect(data[0 * 6 + 4]).toBeGreaterThan(data[0 * 6 + 2]!);
  });
});
