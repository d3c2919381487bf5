// The common module comes in two parts: who has a quantized GGUF model never asks for the second, and who needs it and
// cannot have it is told.
import { EmbeddingModel, openDirectory } from 'id2vec';
import type { LoadOptions, WasmInput } from 'id2vec';
import { describe, expect, it } from 'vitest';
import { projectFile } from './corpus.js';
import { randomTable } from './files/formats.js';
import { gguf } from './files/gguf.js';
import { isas } from './files/isas.js';
import { safetensors } from './files/safetensors.js';

const [rows, dim] = [40, 32];
const bytesOf = (numbers: ArrayLike<number>) => new Uint8Array(Float32Array.from(numbers).buffer);
const floats = bytesOf(Array.from({ length: rows * dim }, (_, i) => Math.sin(i)));
const norm = bytesOf(new Float32Array(dim).fill(2));

const quantized = gguf(
  [
    { name: 'token_embd.weight', dtype: 'Q8_0', shape: [rows, dim], data: randomTable('Q8_0', rows, dim, 1) },
    { name: 'output.weight', dtype: 'Q4_0', shape: [rows, dim], data: randomTable('Q4_0', rows, dim, 2) },
    { name: 'output_norm.weight', dtype: 'F32', shape: [dim], data: norm },
  ],
  {
    'general.architecture': 'gemma2',
    'gemma2.final_logit_softcapping': 30,
    'tokenizer.ggml.model': 'llama',
    'tokenizer.ggml.tokens': Array.from({ length: rows }, (_, id) => `token ${id}`),
  },
);
const stored = safetensors([{ name: 'embedding.weight', dtype: 'F32', shape: [rows, dim], data: floats }]);
const unquantized = gguf([{ name: 'token_embd.weight', dtype: 'F32', shape: [rows, dim], data: floats }]);

// The head is [d, V]: weight i of row id is i · V + id, which F16 holds.
const halves = new Uint8Array(Uint16Array.from({ length: rows * dim }, (_, i) => halfOf(i)).buffer);
const turned = gguf([
  { name: 'token_embd.weight', dtype: 'Q8_0', shape: [rows, dim], data: randomTable('Q8_0', rows, dim, 1) },
  { name: 'output.weight', dtype: 'F16', shape: [dim, rows], data: halves },
]);

/** The bits of a whole number from 0 to 2047 as a half. */
function halfOf(value: number): number {
  if (value === 0) return 0;
  const exponent = Math.floor(Math.log2(value));
  return ((exponent + 15) << 10) | ((value - 2 ** exponent) << (10 - exponent));
}

/** Nothing that was asked for. */
const missing = (): WasmInput => new Response('', { status: 404 });

describe.each(isas)('%s: without the second part', (isa) => {
  const options = (): LoadOptions => ({ isa, extraWasm: missing() });

  it.each(['memory', 'workers', 'remote'] as const)(
    'a quantized GGUF does all it does: %s',
    async (residency) => {
      const whole: LoadOptions = residency === 'remote' ? { remote: { whole: 'load' } } : {};
      using model = await EmbeddingModel.load(quantized, { ...options(), ...whole, residency });
      using reference = await EmbeddingModel.load(quantized, { isa });
      const uses: ((model: EmbeddingModel) => Promise<unknown>)[] = [
        (model) => model.lookup([3, 39, 0]),
        (model) => model.embed([[1, 2]]),
        (model) => model.pool([5, 6, 7], { normalize: true }),
        (model) => model.nearest(3, 5, { metric: 'euclidean', exclude: [4] }),
        async (model) => model.logits(await model.lookup([7]), { precision: 'fast' }),
        async (model) => model.topK(await model.lookup([7, 8]), 6, { ids: [1, 2, 3, 4, 5, 6, 7] }),
        async (model) =>
          model.topK(await model.lookup([9]), 3, residency === 'memory' ? { scores: 'softmax' } : {}),
        async (model) => [model.tokens?.at(5), model.tokens?.idOf('token 6')],
        async (model) => model.info.memoryBill,
      ];
      for (const use of uses) expect(await use(model)).toEqual(await use(reference));
    },
  );

  it.each([
    ['analogy', (model: EmbeddingModel) => model.analogy({ positive: [1], negative: [2] }, 3)],
    ['similarity', (model: EmbeddingModel) => model.similarity([1, 2])],
    ['plane', (model: EmbeddingModel) => model.plane([1, 2, 3])],
    ['weighByFrequency', (model: EmbeddingModel) => model.weighByFrequency(1e-3)],
  ])('%s says what it misses', async (_, use) => {
    using model = await EmbeddingModel.load(quantized, options());
    await expect(use(model)).rejects.toMatchObject({ name: 'EmbeddingError', code: 'wasm' });
    await expect(use(model)).rejects.toThrow(/answered with status 404/);
    expect((await model.lookup([1])).data).toHaveLength(dim);
  });

  it('directories of GGUF files are read', async () => {
    const { container, tensors } = await openDirectory(quantized, options());
    expect(container).toBe('GGUF');
    expect(tensors).toHaveLength(3);
  });

  it('what is neither GGUF nor JSON is for the full module, and asks for no second part', async () => {
    const zip = new Uint8Array(100);
    zip.set([0x50, 0x4b, 3, 4]);
    const failure = EmbeddingModel.load(zip, options());
    await expect(failure).rejects.toMatchObject({ name: 'EmbeddingError' });
    await expect(failure).rejects.toThrow(/zip/);
  });

  it('a piece of a vocabulary may begin with a byte order mark', async () => {
    const tokens = ['\uFEFF', 'a', '\uFEFFb'];
    const data = randomTable('Q8_0', 3, dim, 1);
    const tensors = [{ name: 'token_embd.weight', dtype: 'Q8_0' as const, shape: [3, dim], data }];
    const metadata = { 'general.architecture': 'llama', 'tokenizer.ggml.tokens': tokens };
    using model = await EmbeddingModel.load(gguf(tensors, metadata), options());
    expect([0, 1, 2].map((id) => model.tokens?.at(id))).toEqual(tokens);
    expect(model.tokens?.idOf('\uFEFF')).toBe(0);
  });

  it('a broken GGUF is still a sentence about the file', async () => {
    const failure = EmbeddingModel.load(quantized.slice(0, 500), options());
    await expect(failure).rejects.toMatchObject({ name: 'EmbeddingError', code: 'truncated' });
  });

  it('a table of a GGUF that is stored the wrong way round is an error that says why', async () => {
    const failure = EmbeddingModel.load(turned, options());
    await expect(failure).rejects.toMatchObject({ name: 'EmbeddingError', code: 'wasm' });
    using model = await EmbeddingModel.load(turned, { isa });
    expect(model.tied).toBe(false);
    const { data } = await model.logits(Float32Array.from({ length: dim }, (_, i) => (i === 3 ? 1 : 0)));
    expect(Array.from(data)).toEqual(Array.from({ length: rows }, (_, id) => 3 * rows + id));
  });

  it('F32 rows of a GGUF are read, and trainer says what it misses', async () => {
    using model = await EmbeddingModel.load(unquantized, options());
    expect((await model.lookup([1])).data[0]).toBe(Math.fround(Math.sin(dim)));
    expect(() => model.trainer()).toThrow(
      /What trains could not be loaded.*status 404.*load the model again/,
    );
  });

  it('safetensors cannot be read, and the next load can', async () => {
    const failure = EmbeddingModel.load(stored, options());
    await expect(failure).rejects.toMatchObject({ name: 'EmbeddingError', code: 'wasm' });
    await expect(failure).rejects.toThrow(/answered with status 404/);
    using model = await EmbeddingModel.load(stored, { isa });
    expect((await model.lookup([1])).data[0]).toBe(Math.fround(Math.sin(dim)));
  });
});

const [first, extra] = ['dist/id2vec.simd128.wasm', 'dist/id2vec.extra.simd128.wasm'];

describe('the option extraWasm', () => {
  it('is the second part of the option wasm', async () => {
    const [wasm, extraWasm] = await Promise.all([first, extra].map(projectFile));
    using model = await EmbeddingModel.load(stored, { wasm, extraWasm });
    expect(model.info.container).toBe('safetensors');
    expect(model.info.isa).toBe('simd128');
    model.trainer().dispose();
  });

  it('is found for the kind of module that was given', async () => {
    using model = await EmbeddingModel.load(stored, { wasm: await projectFile(first) });
    expect((await model.lookup([2])).data[0]).toBe(Math.fround(Math.sin(2 * dim)));
  });

  it.each([
    ['another build', () => projectFile('dist/id2vec.extra.relaxed.wasm'), /of two builds: take "wasm" and/],
    ['a first part', () => projectFile('dist/id2vec.full.simd128.wasm'), /of two builds/],
    ['no module', () => new Uint8Array(100), /What the option "extraWasm" holds is no WebAssembly module/],
  ])('says what is wrong with %s', async (_, extraWasm, message) => {
    const wasm = await projectFile(first);
    const failure = EmbeddingModel.load(stored, { wasm, extraWasm: await extraWasm() });
    await expect(failure).rejects.toMatchObject({ name: 'EmbeddingError', code: 'wasm' });
    await expect(failure).rejects.toThrow(message);
  });
});
