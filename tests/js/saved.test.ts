// What a file says beside its tables stays with a model: saved, dequantized, trained and saved again.
import { EmbeddingModel, openDirectory } from 'id2vec';
import { describe, expect, test } from 'vitest';
import { gguf } from './files/gguf.js';
import type { Metadata } from './files/gguf.js';

const dim = 32;
const tokens = ['<s>', 'a', 'b', 'ab', 'constructor'];
const merges = Array.from({ length: 300 }, (_, i) => `a ${i}`);
const metadata: Metadata = {
  'general.architecture': 'llama',
  'general.name': 'small',
  'llama.context_length': 128,
  'llama.vocab_size': tokens.length,
  'tokenizer.ggml.model': 'llama',
  'tokenizer.ggml.tokens': tokens,
  'tokenizer.ggml.scores': Float32Array.of(0, -1.5, -2, -3, -0.25),
  'tokenizer.ggml.token_type': Int32Array.of(3, 1, 1, 4, 1),
  'tokenizer.ggml.merges': merges,
  'tokenizer.ggml.add_bos_token': true,
  'tokenizer.ggml.precompiled_charsmap': new Uint8Array(400).fill(9),
  'tokenizer.ggml.padding_token_id': 4294967295,
};
// Scale 2^-4 (f16 0x2c00), then 32 quants.
const rows = tokens.flatMap((_, row) => [
  0,
  0x2c,
  ...Array.from({ length: 32 }, (_, i) => (row * 9 + i) & 127),
]);
const source = gguf(
  [{ name: 'token_embd.weight', dtype: 'Q8_0', shape: [tokens.length, dim], data: Uint8Array.from(rows) }],
  metadata,
);

async function expectEverything(file: Uint8Array<ArrayBuffer>): Promise<void> {
  const [before, after] = [await openDirectory(source), await openDirectory(file)];
  expect(after.metadata).toEqual(before.metadata);
  // The long arrays, byte for byte.
  const text = (bytes: Uint8Array) => Array.from(bytes, (byte) => String.fromCharCode(byte)).join('');
  const entry = (bytes: Uint8Array, key: string, length: number) => {
    const at = text(bytes).indexOf(`tokenizer.ggml.${key}`);
    expect(at).toBeGreaterThan(0);
    return text(bytes.subarray(at, at + length));
  };
  for (const [key, length] of [
    ['merges', 300 * 11 + 30],
    ['scores', 60],
    ['token_type', 60],
    ['precompiled_charsmap', 450],
  ] as const) {
    expect(entry(file, key, length).slice(0, length - 30)).toBe(
      entry(source, key, length).slice(0, length - 30),
    );
  }
}

describe('metadata and vocabulary', () => {
  test('of a saved model are those of its file', async () => {
    using model = await EmbeddingModel.load(source);
    await expectEverything(await model.save());
  });

  test('go through dequantize, training and save', async () => {
    using model = await EmbeddingModel.load(source);
    using float = await model.dequantize();
    expect((await float.lookup([0, 4])).data).toEqual((await model.lookup([0, 4])).data);
    expect(float.tokens!.idOf('constructor')).toBe(4);
    expect([float.dtype, float.info.architecture]).toEqual(['F32', 'llama']);
    using trainer = float.trainer({ optimizer: 'sgd', learningRate: 1 });
    trainer.accumulate([1], new Float32Array(dim).fill(1));
    trainer.step();
    const saved = await float.save();
    await expectEverything(saved);
    using again = await EmbeddingModel.load(saved);
    const [before, after] = [await model.lookup([1]), await again.lookup([1])];
    expect([...after.data]).toEqual([...before.data].map((value) => value - 1));
  });

  test('positions, norm and bias are written as well', async () => {
    const floats = (...values: number[]) => new Uint8Array(Float32Array.from(values).buffer);
    const bloom = gguf(
      [
        { name: 'token_embd.weight', dtype: 'F32', shape: [3, 2], data: floats(1, 3, 5, 4, 0, 9) },
        { name: 'token_embd_norm.weight', dtype: 'F32', shape: [2], data: floats(2, 1) },
        { name: 'token_embd_norm.bias', dtype: 'F32', shape: [2], data: floats(0, 1) },
        { name: 'output.bias', dtype: 'F32', shape: [3], data: floats(1, 2, 3) },
      ],
      { 'general.architecture': 'bloom' },
    );
    using model = await EmbeddingModel.load(bloom);
    using again = await EmbeddingModel.load(await model.save());
    expect(again.info.tensors.map(({ name, shape }) => [name, shape])).toEqual([
      ['token_embd.weight', [3, 2]],
      ['output.bias', [3]],
      ['token_embd_norm.weight', [2]],
      ['token_embd_norm.bias', [2]],
    ]);
    expect((await again.embed([1, 0])).data).toEqual((await model.embed([1, 0])).data);
    const hidden = Float32Array.of(1, 1);
    expect([...(await again.logits(hidden)).data]).toEqual([5, 11, 12]);
  });

  test('outlive neither the model nor its tokens', async () => {
    const model = await EmbeddingModel.load(source);
    model.dispose();
    model.dispose();
    await expect(model.save()).rejects.toThrow(/disposed/);
    expect(() => model.tokens!.at(0)).toThrow(/disposed/);
    await expect(model.dequantize()).rejects.toThrow(/disposed/);
  });
});

describe('the second table of Gemma 3n', () => {
  const f32 = (count: number) => new Uint8Array(Float32Array.from({ length: count }, (_, i) => i).buffer);
  const gemma = gguf(
    [
      { name: 'token_embd.weight', dtype: 'F32', shape: [3, 4], data: f32(12) },
      { name: 'per_layer_token_embd.weight', dtype: 'F32', shape: [2, 6], data: f32(12) },
    ],
    { 'general.architecture': 'gemma3n', 'gemma3n.embedding_length_per_layer_input': 4 },
  );

  test.each(['per_layer', 'per_layer_token_embd.weight'])('is had as %s', async (tensor) => {
    using model = await EmbeddingModel.load(gemma, { tensor });
    expect([model.vocabSize, model.dim]).toEqual([2, 6]);
    expect([...(await model.lookup([1])).data]).toEqual([6, 7, 8, 9, 10, 11]);
    expect([...(await model.embed([1])).data]).toEqual([12, 14, 16, 18, 20, 22]); // × √4
  });

  test('shows among the roles of the whole', async () => {
    using model = await EmbeddingModel.load(gemma);
    expect(model.info.roles['per_layer']).toBe('per_layer_token_embd.weight');
    expect([...(await model.embed([1])).data]).toEqual([8, 10, 12, 14]); // × √4
  });
});
