// Models with more or fewer rows: what `id2vec convert --rows` writes.
import { EmbeddingError, EmbeddingModel, exportModel, openDirectory } from 'id2vec';
import type { ExportOptions } from 'id2vec';
import { describe, expect, test } from 'vitest';
import { gguf } from './files/gguf.js';
import type { GgufTensor, Metadata } from './files/gguf.js';
import { safetensors } from './files/safetensors.js';

const [rows, dim] = [6, 32];
const f32 = (values: number[]) => new Uint8Array(Float32Array.from(values).buffer);
const range = (count: number, value: (i: number) => number) =>
  Array.from({ length: count }, (_, i) => value(i));

/** Scale 2^-4 (f16 0x2c00), then quants that tell where they stand. */
const q8Row = (row: number) => Uint8Array.of(0, 0x2c, ...range(32, (i) => (row * 7 + i) & 127));
const q8 = Uint8Array.from(range(rows, (row) => row).flatMap((row) => [...q8Row(row)]));

const tokens = ['a', 'b', 'c', 'ab', 'bc', 'abc'];
const metadata: Metadata = {
  'general.architecture': 'llama',
  'llama.vocab_size': rows,
  'llama.rope.freq_base': 7,
  'tokenizer.ggml.model': 'gpt2',
  'tokenizer.ggml.pre': 'gpt-2',
  'tokenizer.ggml.tokens': tokens,
  'tokenizer.ggml.scores': Float32Array.from(tokens, (_, id) => -id),
  'tokenizer.ggml.token_type': Int32Array.of(1, 1, 3, 1, 1, 1),
  'tokenizer.ggml.merges': ['a b', 'b c', 'ab c'],
  'tokenizer.ggml.eos_token_id': 2,
};
const embedding: GgufTensor = { name: 'token_embd.weight', dtype: 'Q8_0', shape: [rows, dim], data: q8 };
const source = gguf([embedding], metadata);

async function resized(
  from: Uint8Array<ArrayBuffer>,
  options: Partial<ExportOptions>,
): Promise<{ bytes: Uint8Array<ArrayBuffer>; vocabSize: number }> {
  return exportModel(from, { container: 'gguf', ...options }, async (file) => {
    const bytes = await new Blob([...file.bytes] as Uint8Array<ArrayBuffer>[]).arrayBuffer();
    return { bytes: new Uint8Array(bytes), vocabSize: file.vocabSize };
  });
}

const rowsOf = async (model: EmbeddingModel, ids: number[]) => [...(await model.lookup(ids)).data];

describe('rows are cut', () => {
  test('what stays keeps its bytes, and vocabulary and metadata follow', async () => {
    const { bytes, vocabSize } = await resized(source, { rows: 4 });
    expect(vocabSize).toBe(4);
    using model = await EmbeddingModel.load(bytes);
    const { offset, bytes: count } = model.info.tensors[0]!;
    expect(bytes.subarray(offset, offset + count)).toEqual(q8.subarray(0, 4 * 34));
    expect([model.vocabSize, model.dtype, model.tokens!.length]).toEqual([4, 'Q8_0', 4]);
    expect(model.info.warnings).toEqual([]);
    const { metadata: written } = await openDirectory(bytes);
    expect(written.get('llama.vocab_size')).toBe(4);
    expect(written.get('llama.rope.freq_base')).toBe(7);
    expect(written.get('tokenizer.ggml.merges')).toEqual(['a b']);
    expect(written.get('tokenizer.ggml.eos_token_id')).toBe(2);
  });

  test('unless a special token would go', async () => {
    const error = await resized(source, { rows: 2 }).catch((caught: unknown) => caught as EmbeddingError);
    expect(error).toBeInstanceOf(EmbeddingError);
    expect((error as EmbeddingError).message).toMatch(/Id 2 is tokenizer.ggml.eos_token_id.*at least 3 rows/);
  });
});

describe('rows are added', () => {
  test('zeros, up to a multiple', async () => {
    const { bytes, vocabSize } = await resized(source, { padTo: 16 });
    expect(vocabSize).toBe(16);
    using model = await EmbeddingModel.load(bytes);
    using before = await EmbeddingModel.load(source);
    const old = range(rows, (id) => id);
    expect(await rowsOf(model, old)).toEqual(await rowsOf(before, old));
    expect(await rowsOf(model, [6, 15])).toEqual(range(2 * dim, () => 0));
    expect(model.tokens!.at(15)).toBe('[PAD15]');
    expect(model.info.profile.vocabularySize).toBe(rows);
    // Fillers do not compete.
    const { indices } = await model.topK(new Float32Array(dim).fill(-1), 6);
    expect(Math.max(...indices)).toBeLessThan(rows);
  });

  test('the mean of the others; an untied head and its bias follow', async () => {
    const values = range(rows * dim, (i) => (i * 5) % 11);
    const head = range(rows * dim, (i) => (i * 3) % 7);
    const bias = range(rows, (i) => i);
    const untied = safetensors([
      { name: 'embed_tokens.weight', dtype: 'F32', shape: [rows, dim], data: f32(values) },
      { name: 'lm_head.weight', dtype: 'F32', shape: [rows, dim], data: f32(head) },
      { name: 'lm_head.bias', dtype: 'F32', shape: [rows], data: f32(bias) },
    ]);
    const { bytes } = await resized(untied, { rows: 7, newRows: 'mean' });
    using model = await EmbeddingModel.load(bytes);
    const mean = (of: number[]) =>
      range(dim, (c) => range(rows, (r) => of[r * dim + c]!).reduce((a, b) => a + b) / rows);
    expect(await rowsOf(model, [6])).toEqual([...Float32Array.from(mean(values))]);
    const hidden = new Float32Array(dim);
    hidden[3] = 2;
    const { data, dims } = await model.logits(hidden);
    expect(dims).toEqual([1, 7]);
    expect(data[6]).toBeCloseTo(2 * mean(head)[3]! + 2.5, 5);
    expect(data[1]).toBeCloseTo(2 * head[dim + 3]! + 1, 5);
  });

  test('in another format and container at once', async () => {
    const { bytes } = await resized(source, { rows: 8, type: 'F16', container: 'safetensors' });
    using model = await EmbeddingModel.load(bytes);
    expect([model.vocabSize, model.dtype, model.info.container]).toEqual([8, 'F16', 'safetensors']);
  });
});

describe('what cannot be is refused', () => {
  test.each([
    [{ rows: 0 }, RangeError, /rows is 0/],
    [{ rows: 1.5 }, RangeError, /rows is 1.5/],
    [{ padTo: -1 }, RangeError, /padTo is -1/],
    [{ newRows: 'ones' as 'mean' }, TypeError, /newRows is "ones"/],
  ] as const)('%j', async (options, kind, message) => {
    const error = await resized(source, options).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(kind);
    expect((error as Error).message).toMatch(message);
  });

  test('tables whose ids are mapped to rows', async () => {
    const mapped = safetensors([
      { name: 'embeddings', dtype: 'F32', shape: [2, 4], data: f32(range(8, (i) => i)) },
      { name: 'mapping', dtype: 'I32', shape: [3], data: new Uint8Array(Int32Array.of(0, 1, 1).buffer) },
    ]);
    await expect(resized(mapped, { rows: 3 })).rejects.toThrow(EmbeddingError);
  });
});
