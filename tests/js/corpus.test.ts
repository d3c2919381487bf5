// Real model files against an independent decoding of their bytes. Skipped where the corpus is absent.
import { EmbeddingModel, openDirectory } from 'id2vec';
import type { TensorInfo } from 'id2vec';
import { describe, expect, it } from 'vitest';
import { corpusFile, corpusPath, hasCorpus } from './corpus.js';
import { decodeRow } from './files/formats.js';
import type { FormatName } from './files/formats.js';
import { isas } from './files/isas.js';
import { bits, dot, dotBound, ranking } from './files/reference.js';

const v = 512;
const d = 64;

async function decodeTensor(file: string, tensor: TensorInfo): Promise<number[][]> {
  const folder = file.slice(0, file.lastIndexOf('/') + 1);
  const bytes = (await corpusFile(folder + tensor.file)).subarray(
    tensor.offset,
    tensor.offset + tensor.bytes,
  );
  return Array.from({ length: v }, (_, id) => decodeRow(tensor.dtype as FormatName, bytes, d, id));
}

const gguf = ['', '.F16', '.BF16', '.Q8_0', '.Q4_0'].map((type) => `gguf/stories260K${type}.gguf`);
const hf = 'safetensors/stories260K-hf';
const cases: { file: string; embedding: string; head: string; tied: boolean }[] = [
  ...gguf.map((file) => ({
    file,
    embedding: 'token_embd.weight',
    head: 'output.weight',
    tied: !file.includes('Q4_0'),
  })),
  ...['model.tied', 'model.untied-dup', 'model.bf16'].map((name) => ({
    file: `${hf}/${name}.safetensors`,
    embedding: 'model.embed_tokens.weight',
    head: 'lm_head.weight',
    tied: true,
  })),
  {
    file: `${hf}/model.safetensors.index.json`,
    embedding: 'model.embed_tokens.weight',
    head: 'lm_head.weight',
    tied: true,
  },
];

describe.skipIf(!hasCorpus).each(cases)('$file', ({ file, embedding, head, tied }) => {
  const tensorOf = async (name: string) =>
    (await openDirectory(corpusPath(file))).tensors.find((tensor) => tensor.name === name);

  it.each(isas)('gives the same rows as an independent decoding (%s)', async (isa) => {
    using model = await EmbeddingModel.load(corpusPath(file), { isa, cache: false });
    expect(model).toMatchObject({ vocabSize: v, dim: d, tied });
    const { data } = await model.lookup([...Array(v).keys()]);
    const decoded = await decodeTensor(file, (await tensorOf(embedding))!);
    expect(bits(data)).toEqual(bits(decoded.flat()));
  });

  it.each(isas)('ranks and scores like double precision (%s)', async (isa) => {
    using model = await EmbeddingModel.load(corpusPath(file), { isa, cache: false });
    const rows = await decodeTensor(file, ((await tensorOf(head)) ?? (await tensorOf(embedding)))!);
    const hidden = await model.lookup([5, 400]);
    const { data } = await model.logits(hidden);
    const { indices } = await model.topK(hidden, 10);
    for (let n = 0; n < 2; n++) {
      const h = hidden.data.subarray(n * d, n * d + d);
      const exact = rows.map((row) => dot(row, h));
      rows.forEach((row, id) => {
        expect(Math.abs(data[n * v + id]! - exact[id]!)).toBeLessThan(dotBound(row, h));
      });
      expect(indices[n * 10]).toBe(ranking(exact)[0]);
      const scores = Array.from(data.subarray(n * v, n * v + v));
      expect(Array.from(indices.subarray(n * 10, n * 10 + 10))).toEqual(ranking(scores).slice(0, 10));
    }
  });

  it('keeps one copy of what is tied, two of what is not', async () => {
    using model = await EmbeddingModel.load(corpusPath(file), { cache: false });
    const { memory, bytes } = model.info;
    expect(memory.embedding).toBe(bytes);
    expect(model.head!.address === model.table!.address).toBe(tied);
    expect(memory.head > 0).toBe(!tied);
    // A second copy would not fit: the tables take 18 to 131 KB of a memory that starts with 1 MB.
    expect(memory.heap).toBeLessThan(bytes + (10 << 20));
  });
});

describe.skipIf(!hasCorpus)('the vocabulary of stories260K', () => {
  it('has 512 pieces', async () => {
    using model = await EmbeddingModel.load(corpusPath('gguf/stories260K.gguf'), { cache: false });
    expect(model.tokens).toHaveLength(512);
    expect([0, 1, 2, 3].map((id) => model.tokens!.at(id))).toEqual(['<unk>', '<s>', '</s>', '<0x00>']);
    expect(model.tokens!.idOf('<s>')).toBe(1);
  });
});

describe.skipIf(!hasCorpus)('a file that holds a vocabulary alone', () => {
  it('is a directory without tensors, and no model', async () => {
    const path = corpusPath('gguf/ggml-vocab-gpt-2.gguf');
    expect((await openDirectory(path, { cache: false })).tensors).toEqual([]);
    await expect(EmbeddingModel.load(path, { cache: false })).rejects.toMatchObject({ code: 'not-found' });
  });
});
