// Loading a model and what one does with it, on small files made on the fly.
import { EmbeddingError, EmbeddingModel, openDirectory } from 'id2vec';
import type { Progress } from 'id2vec';
import { describe, expect, it } from 'vitest';
import { decodeRow, formatNames, randomNumbers, randomTable } from './files/formats.js';
import type { FormatName } from './files/formats.js';
import { gguf } from './files/gguf.js';
import { isas } from './files/isas.js';
import { bits, dot, dotBound, ranking } from './files/reference.js';
import { safetensors } from './files/safetensors.js';

const rows = 97; // no multiple of any tile
const dim = 64;

function model(format: FormatName, seed = 1): Uint8Array<ArrayBuffer> {
  const data = randomTable(format, rows, dim, seed);
  return gguf([{ name: 'token_embd.weight', dtype: format, shape: [rows, dim], data }]);
}

function randomHidden(count: number, seed: number): Float32Array {
  const random = randomNumbers(seed);
  return Float32Array.from({ length: count * dim }, () => random() * 2 - 1);
}

describe.each(isas)('%s', (isa) => {
  describe.each(formatNames)('%s', (format) => {
    const table = randomTable(format, rows, dim, 1);
    const decoded = Array.from({ length: rows }, (_, id) => decodeRow(format, table, dim, id));

    it('looks rows up bit for bit', async () => {
      using loaded = await EmbeddingModel.load(model(format), { isa });
      expect(loaded.info).toMatchObject({ isa, vocabSize: rows, dim, dtype: format, tied: true });
      const ids = [96, 0, 17, 17, 95, 1];
      const { data, dims } = await loaded.lookup(ids);
      expect(dims).toEqual([ids.length, dim]);
      expect(bits(data)).toEqual(bits(ids.flatMap((id) => decoded[id]!)));
    });

    it.each([1, 3, 9])('scores %i hidden vectors within the bound', async (count) => {
      using loaded = await EmbeddingModel.load(model(format), { isa });
      const hidden = randomHidden(count, 2);
      for (const precision of ['high', 'fast'] as const) {
        const { data, dims } = await loaded.logits(hidden, { precision });
        expect(dims).toEqual([count, rows]);
        for (let n = 0; n < count; n++) {
          const h = hidden.subarray(n * dim, n * dim + dim);
          decoded.forEach((row, id) => {
            const error = Math.abs(data[n * rows + id]! - dot(row, h));
            expect(error, `vector ${n}, id ${id}, ${precision}`).toBeLessThan(dotBound(row, h, precision));
          });
        }
      }
    });

    it('finds the best k, as logits rank them', async () => {
      using loaded = await EmbeddingModel.load(model(format), { isa });
      const hidden = randomHidden(3, 3);
      const all = await loaded.logits(hidden);
      const { values, indices, dims } = await loaded.topK(hidden, 5);
      expect(dims).toEqual([3, 5]);
      for (let n = 0; n < 3; n++) {
        const scores = Array.from(all.data.subarray(n * rows, n * rows + rows));
        const best = ranking(scores).slice(0, 5);
        expect(Array.from(indices.subarray(n * 5, n * 5 + 5))).toEqual(best);
        expect(Array.from(values.subarray(n * 5, n * 5 + 5))).toEqual(best.map((id) => scores[id]));
      }
    });
  });

  it('breaks ties by the lower id and lets NaN never win', async () => {
    const data = new Float32Array(8 * 4).fill(1);
    data[2 * 4] = NaN;
    data[5 * 4] = 3;
    const bytes = new Uint8Array(data.buffer);
    using loaded = await EmbeddingModel.load(
      safetensors([{ name: 'embedding.weight', dtype: 'F32', shape: [8, 4], data: bytes }]),
      { isa },
    );
    const { indices, values } = await loaded.topK(new Float32Array(4).fill(1), 7);
    expect(Array.from(indices)).toEqual([5, 0, 1, 3, 4, 6, 7]);
    expect(Array.from(values)).toEqual([6, 4, 4, 4, 4, 4, 4]);
  });

  it('scores and ranks some ids only, where asked to', async () => {
    using loaded = await EmbeddingModel.load(model('Q8_0'), { isa });
    const hidden = randomHidden(2, 4);
    const all = await loaded.logits(hidden);
    const ids = [50, 3, 96];
    const some = await loaded.logits(hidden, { ids });
    expect(some.dims).toEqual([2, 3]);
    expect(Array.from(some.data)).toEqual([0, 1].flatMap((n) => ids.map((id) => all.data[n * rows + id])));
    const top = await loaded.topK(hidden, 2, { ids });
    for (const index of top.indices) expect(ids).toContain(index);
    const limited = await loaded.topK(hidden, 40, { limit: 40 });
    expect([...limited.indices.subarray(0, 40)].sort((a, b) => a - b)).toEqual([...Array(40).keys()]);
  });
});

describe('shapes of hidden vectors', () => {
  it('keeps the dimensions of a tensor but for the last', async () => {
    using loaded = await EmbeddingModel.load(model('F32'));
    const data = randomHidden(6, 5);
    const flat = await loaded.logits(data);
    const nested = await loaded.logits({ data, dims: [2, 3, dim] });
    expect(nested.dims).toEqual([2, 3, rows]);
    expect(nested.data).toEqual(flat.data);
    expect((await loaded.topK({ data, dims: [2, 3, dim] }, 4)).dims).toEqual([2, 3, 4]);
    expect((await loaded.logits({ data: data.subarray(0, dim), dims: [dim] })).dims).toEqual([rows]);
    expect((await loaded.logits(new Float32Array(0))).dims).toEqual([0, rows]);
  });

  it('takes back what lookup gave', async () => {
    using loaded = await EmbeddingModel.load(model('F16'));
    const top = await loaded.topK(await loaded.lookup([[1, 2]]), 1);
    expect(top.dims).toEqual([1, 2, 1]);
  });

  it.each([
    [new Float32Array(dim + 1), /65 values.*64/],
    [{ data: new Float32Array(dim), dims: [2, dim] }, /dims \[2, 64\]/],
    [{ data: new Float32Array(dim), dims: [dim, 1] }, /must be \[…, 64\]/],
    [[1, 2, 3] as unknown as Float32Array, /Float32Array/],
    [null as unknown as Float32Array, /null/],
  ])('refuses %o', async (hidden, message) => {
    using loaded = await EmbeddingModel.load(model('F32'));
    await expect(loaded.logits(hidden)).rejects.toThrow(message);
    await expect(loaded.logits(hidden)).rejects.toBeInstanceOf(TypeError);
    await expect(loaded.topK(hidden, 1)).rejects.toBeInstanceOf(TypeError);
  });

  it.each([0, -1, 1.5, rows + 1, NaN])('refuses k = %f', async (k) => {
    using loaded = await EmbeddingModel.load(model('F32'));
    await expect(loaded.topK(new Float32Array(dim), k)).rejects.toBeInstanceOf(RangeError);
  });
});

describe('out', () => {
  it('is written to and becomes the data', async () => {
    using loaded = await EmbeddingModel.load(model('Q4_0'));
    const around = new Float32Array(2 * dim + 2).fill(9);
    const out = around.subarray(1, 2 * dim + 1);
    const { data } = await loaded.lookup([5, 6], { out });
    expect(data).toBe(out);
    expect(out).toEqual((await loaded.lookup([5, 6])).data);
    expect([around[0], around.at(-1)]).toEqual([9, 9]);
    const scores = new Float32Array(rows);
    expect((await loaded.logits(out.subarray(0, dim), { out: scores })).data).toBe(scores);
  });

  it('must have the length of the result', async () => {
    using loaded = await EmbeddingModel.load(model('Q4_0'));
    await expect(loaded.lookup([1], { out: new Float32Array(dim - 1) })).rejects.toThrow(/63 values.*64/);
    const wrong = new Float64Array(dim) as unknown as Float32Array;
    await expect(loaded.lookup([1], { out: wrong })).rejects.toBeInstanceOf(TypeError);
  });
});

describe('tying', () => {
  const table = randomTable('F16', rows, dim, 1);
  const named = (name: string, data: Uint8Array) => ({
    name,
    dtype: 'F16' as const,
    shape: [rows, dim],
    data,
  });
  const differing = (at: number) => {
    const copy = table.slice();
    copy[at]! ^= 1;
    return copy;
  };

  it('is reported where the head is absent', async () => {
    using loaded = await EmbeddingModel.load(gguf([named('token_embd.weight', table)]));
    expect(loaded.tied).toBe(true);
    expect(loaded.head).toBe(loaded.table);
    expect(loaded.info.roles).toMatchObject({ embedding: 'token_embd.weight', head: 'token_embd.weight' });
  });

  it('is found where the head holds the same bytes, which are kept once', async () => {
    const once = gguf([named('token_embd.weight', table)]);
    const twice = gguf([named('token_embd.weight', table), named('output.weight', table)]);
    using tied = await EmbeddingModel.load(twice);
    using plain = await EmbeddingModel.load(once);
    expect(tied.tied).toBe(true);
    expect(tied.head!.address).toBe(tied.table!.address);
    expect(tied.info.memory).toMatchObject({ embedding: table.length, head: 0 });
    expect(tied.info.memory.heap).toBe(plain.info.memory.heap);
  });

  it.each([0, 1, 5000, rows * dim * 2 - 1])('is denied where byte %i differs', async (at) => {
    const other = differing(at);
    using loaded = await EmbeddingModel.load(
      gguf([named('token_embd.weight', table), named('output.weight', other)]),
    );
    expect(loaded.tied).toBe(false);
    expect(loaded.head!.address).not.toBe(loaded.table!.address);
    const ids = [...Array(rows).keys()];
    expect(bits(loaded.head!.lookup(ids).data)).toEqual(
      bits(ids.flatMap((id) => decodeRow('F16', other, dim, id))),
    );
    expect(bits(loaded.table!.lookup(ids).data)).toEqual(
      bits(ids.flatMap((id) => decodeRow('F16', table, dim, id))),
    );
  });
});

describe('loading', () => {
  it('tells how far it is, up to the last byte', async () => {
    const table = randomTable('Q8_0', rows, dim, 1);
    const head = randomTable('Q4_0', rows, dim, 2);
    const seen: Progress[] = [];
    const file = gguf([
      { name: 'token_embd.weight', dtype: 'Q8_0', shape: [rows, dim], data: table },
      { name: 'output.weight', dtype: 'Q4_0', shape: [rows, dim], data: head },
    ]);
    using loaded = await EmbeddingModel.load(file, { onProgress: (progress) => seen.push(progress) });
    expect(loaded.tied).toBe(false);
    expect([...new Set(seen.map(({ phase }) => phase))]).toEqual(['header', 'embedding', 'head']);
    const total = table.length + head.length;
    expect(seen.at(-1)).toEqual({ loaded: total, total, phase: 'head' });
    const weights = seen.filter(({ phase }) => phase !== 'header');
    weights.forEach(({ loaded }, i) => expect(loaded).toBeGreaterThan(weights[i - 1]?.loaded ?? 0));
  });

  it('takes a Blob, a buffer, and { byteLength, slice }', async () => {
    const bytes = model('F32');
    const expected = (await (await EmbeddingModel.load(bytes)).lookup([7])).data;
    const own = { byteLength: bytes.length, slice: (start: number, end: number) => bytes.slice(start, end) };
    for (const source of [new Blob([bytes]), bytes.buffer, own]) {
      using loaded = await EmbeddingModel.load(source);
      expect((await loaded.lookup([7])).data).toEqual(expected);
    }
  });

  it('rejects with the reason of its signal and lets the source go', async () => {
    const bytes = model('F32');
    const reason = new Error('enough');
    const controller = new AbortController();
    let reads = 0;
    const slow = {
      byteLength: bytes.length,
      slice(start: number, end: number) {
        if (++reads === 2) controller.abort(reason);
        return Promise.resolve(bytes.slice(start, end));
      },
    };
    await expect(EmbeddingModel.load(slow, { signal: controller.signal })).rejects.toBe(reason);
    const before = reads;
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(reads).toBe(before);
  });

  it('rejects at once where the signal was aborted before', async () => {
    const failure = EmbeddingModel.load(model('F32'), { signal: AbortSignal.abort() });
    await expect(failure).rejects.toMatchObject({ name: 'AbortError' });
  });

  it('finds a tensor by the name that it is given', async () => {
    const tensor = (name: string, rows: number) => ({
      name,
      dtype: 'F32' as const,
      shape: [rows, 4],
      data: randomTable('F32', rows, 4, 1),
    });
    const file = safetensors([tensor('some.table', 5), tensor('other.table', 6)]);
    const failure = EmbeddingModel.load(file);
    await expect(failure).rejects.toMatchObject({
      code: expect.stringMatching(/not-found|ambiguous/) as string,
    });
    using loaded = await EmbeddingModel.load(file, { tensor: 'some.table' });
    expect(loaded.vocabSize).toBe(5);
    await expect(EmbeddingModel.load(file, { tensor: 'no.such' })).rejects.toThrow(/no\.such/);
  });

  it('counts 32000 × 512 parameters as 16,384,000', async () => {
    const data = new Uint8Array((32000 * 512 * 18) / 32);
    using loaded = await EmbeddingModel.load(
      gguf([{ name: 'token_embd.weight', dtype: 'Q4_0', shape: [32000, 512], data }]),
    );
    expect(loaded.info.parameters).toBe(16_384_000);
    expect(loaded.info.bytes).toBe(data.length);
    expect(loaded.info.memory.heap).toBeLessThan(data.length + (10 << 20));
  });

  it('looks the running example up in a table of 50257 rows', async () => {
    const [v, d] = [50257, 32];
    const data = randomTable('Q8_0', v, d, 6);
    const ids = [2061, 318, 262, 3139, 286, 4881, 30];
    using loaded = await EmbeddingModel.load(
      gguf([{ name: 'token_embd.weight', dtype: 'Q8_0', shape: [v, d], data }]),
    );
    const rowsOf = await loaded.lookup(ids);
    expect(rowsOf.dims).toEqual([7, d]);
    expect(bits(rowsOf.data)).toEqual(bits(ids.flatMap((id) => decodeRow('Q8_0', data, d, id))));
  });

  it('overrides what is known of the architecture', async () => {
    using loaded = await EmbeddingModel.load(model('F32'), { profile: { softcap: 30 } });
    expect(loaded.info.profile).toMatchObject({ architecture: 'llama', softcap: 30 });
  });
});

describe('tokens', () => {
  const pieces = ['<unk>', '▁the', 'constructor', '__proto__', '🙂', 'Ġx', 'constructor'];
  const data = randomTable('F32', 7, 4, 1);
  const file = gguf([{ name: 'token_embd.weight', dtype: 'F32', shape: [7, 4], data }], {
    'general.architecture': 'llama',
    'tokenizer.ggml.tokens': pieces,
  });

  it('are what the file carries', async () => {
    using loaded = await EmbeddingModel.load(file);
    const tokens = loaded.tokens!;
    expect(tokens).toHaveLength(7);
    expect(pieces.map((_, id) => tokens.at(id))).toEqual(pieces);
    expect(tokens.idOf('__proto__')).toBe(3);
    expect(tokens.idOf('constructor')).toBe(2);
    expect(tokens.idOf('toString')).toBeUndefined();
    expect(() => tokens.at(7)).toThrow(RangeError);
  });

  it('are absent where the file has none', async () => {
    using loaded = await EmbeddingModel.load(model('F32'));
    expect(loaded.tokens).toBeUndefined();
  });
});

describe('after dispose', () => {
  it('every call rejects, and disposing again is harmless', async () => {
    const loaded = await EmbeddingModel.load(model('F32'));
    const { table } = loaded;
    loaded.dispose();
    loaded.dispose();
    await loaded[Symbol.asyncDispose]();
    const calls = [
      () => loaded.lookup([0]),
      () => loaded.logits(new Float32Array(dim)),
      () => loaded.topK(new Float32Array(dim), 1),
    ];
    for (const call of calls) await expect(call()).rejects.toMatchObject({ code: 'disposed' });
    expect(() => loaded.info).toThrow(EmbeddingError);
    expect(() => table!.lookup([0])).toThrow(/disposed/);
    expect(loaded.vocabSize).toBe(rows);
  });
});

describe('openDirectory', () => {
  it('lists tensors, row-major, and metadata', async () => {
    const directory = await openDirectory(model('Q4_0'));
    expect(directory.container).toBe('GGUF');
    expect(directory.tensors).toEqual([
      expect.objectContaining({
        name: 'token_embd.weight',
        dtype: 'Q4_0',
        shape: [rows, dim],
        bytes: rows * 36,
      }),
    ]);
    expect(directory.metadata.get('general.architecture')).toBe('llama');
  });
});
