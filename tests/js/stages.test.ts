// What surrounds the tables, through the package: embed, the output stage, pooling, neighbours. The formulas themselves
// are tested in tests/cpp; here it is whether files, options and errors reach them.
import { EmbeddingModel } from 'id2vec';
import type { LoadOptions } from 'id2vec';
import { describe, expect, it } from 'vitest';
import { gguf } from './files/gguf.js';
import { safetensors } from './files/safetensors.js';

// The worked example of a table with 6 rows and 4 columns.
const example = [
  [0.1, -0.2, 0.3, 0.05],
  [0.4, 0.1, -0.1, 0.2],
  [-0.3, 0.25, 0.15, -0.05],
  [0.05, 0.6, -0.4, 0.1],
  [0.2, -0.1, 0.0, 0.35],
  [-0.15, 0.05, 0.45, -0.2],
];

function f32(name: string, rows: readonly (readonly number[])[] | readonly number[]) {
  const values = rows.flat();
  const nested = Array.isArray(rows[0]);
  const shape = nested ? [rows.length, (rows[0] as number[]).length] : [rows.length];
  return { name, dtype: 'F32' as const, shape, data: new Uint8Array(Float32Array.from(values).buffer) };
}

function load(
  architecture: string,
  more: ReturnType<typeof f32>[] = [],
  metadata = {},
  options: LoadOptions = {},
) {
  const file = gguf([f32('token_embd.weight', example), ...more], {
    'general.architecture': architecture,
    ...metadata,
  });
  return EmbeddingModel.load(file, options);
}

const fround = (values: readonly number[]) => values.map(Math.fround);

describe('embed', () => {
  it('is the lookup where the architecture adds nothing', async () => {
    using model = await load('llama');
    const { data, dims } = await model.embed([3, 1, 3]);
    expect(dims).toEqual([3, 4]);
    expect(Array.from(data)).toEqual(fround([3, 1, 3].flatMap((id) => example[id]!)));
  });

  it('adds the rows of the position table, and goes on where decoding stands', async () => {
    const positions = [
      [1, 2, 3, 4],
      [5, 6, 7, 8],
      [9, 10, 11, 12],
    ];
    using model = await load('gpt2', [f32('position_embd.weight', positions)]);
    const at = (id: number, position: number) =>
      example[id]!.map((value, i) => Math.fround(Math.fround(value) + positions[position]![i]!));
    expect(Array.from((await model.embed([3, 1])).data)).toEqual([...at(3, 0), ...at(1, 1)]);
    expect(Array.from((await model.embed([1], { positionOffset: 2 })).data)).toEqual(at(1, 2));
    expect(Array.from((await model.embed([3, 1], { positions: [2, 0] })).data)).toEqual([
      ...at(3, 2),
      ...at(1, 0),
    ]);
    const batch = await model.embed([
      [3, 1],
      [0, 5],
    ]);
    expect(batch.dims).toEqual([2, 2, 4]);
    expect(Array.from(batch.data)).toEqual([...at(3, 0), ...at(1, 1), ...at(0, 0), ...at(5, 1)]);
    await expect(model.embed([0, 1, 2, 3])).rejects.toThrow(RangeError);
    await expect(model.embed([0], { positionOffset: -1 })).rejects.toThrow(RangeError);
    await expect(model.embed([0, 1], { positions: [0] })).rejects.toThrow(TypeError);
  });

  it('counts the attention mask for OPT, chosen by hand', async () => {
    const positions = [0, 10, 20, 30, 40].map((value) => [value, value, value, value]);
    using model = await load(
      'llama',
      [f32('position_embd.weight', positions)],
      {},
      { profile: { architecture: 'opt' } },
    );
    const { data } = await model.embed([0, 0, 0], { attentionMask: [0, 1, 1] });
    const first = [0, 4, 8].map((at) => data[at]!);
    expect(first).toEqual([10, 20, 30].map((value) => Math.fround(Math.fround(0.1) + value)));
  });

  it('scales and adds interleaved sinusoids as the original Transformer does', async () => {
    using model = await load('llama', [], {}, { profile: { architecture: 'transformer' } });
    const { data } = await model.embed([1, 3, 5]);
    const expected = [1, 3, 5].flatMap((id, t) =>
      example[id]!.map((value, i) => {
        const angle = t / Math.pow(10000, (i - (i % 2)) / 4);
        const position = Math.fround(i % 2 === 0 ? Math.sin(angle) : Math.cos(angle));
        return Math.fround(2 * Math.fround(value) + position);
      }),
    );
    expect(Array.from(data)).toEqual(expected);
  });

  it('writes where it is told, also in the memory of the core', async () => {
    using model = await load('llama');
    const out = new Float32Array(8);
    expect((await model.embed([3, 1], { out })).data).toBe(out);
    using room = model.table!.allocate(8);
    const { data } = await model.embed([3, 1], { out: room.data });
    expect(Array.from(data)).toEqual(Array.from(out));
    expect(Array.from(room.data)).toEqual(Array.from(out));
    await expect(model.embed([3], { out })).rejects.toThrow(TypeError);
  });

  const pairs = Array.from({ length: 3000 }, (_, i) => [i % 100, (7 * i) % 100]);
  const longBags = Array.from({ length: 1000 }, (_, i) =>
    Array.from({ length: 400 }, (_, j) => (i * j) % 100),
  );

  it.each([
    ['hidden vectors', [50_000, 8], 128, (model: EmbeddingModel, at: Float32Array) => model.logits(at)],
    [
      'vectors to compare',
      [100, 8],
      8000,
      (model: EmbeddingModel, at: Float32Array) => model.similarity({ data: at, dims: [1000, 8] }, 'dot'),
    ],
    [
      'weights of a pool',
      [100, 512],
      6000,
      (model: EmbeddingModel, at: Float32Array) => model.pool(pairs, { weights: at }),
    ],
    [
      'a query',
      [400_000, 8],
      8,
      async (model: EmbeddingModel, at: Float32Array) => ({ data: (await model.nearest(at, 5)).values }),
    ],
    [
      'the place of a result',
      [100, 8],
      8000,
      (model: EmbeddingModel, at: Float32Array) => model.pool(longBags, { out: at }),
    ],
  ] as const)('%s may lie in the memory of the core, also where the call makes it grow', async (...given) => {
    const [, [vocabSize, dim], length, use] = given;
    using model = await EmbeddingModel.create({ vocabSize, dim });
    using there = model.table!.allocate(length);
    there.data.set(there.data.map((_, i) => 1.5 + Math.sin(i)));
    const copy = there.data.slice();
    const before = model.info.memory.heap;
    const data = (await use(model, there.data)).data.slice();
    expect(model.info.memory.heap).toBeGreaterThan(before);
    const expected = (await use(model, copy)).data;
    expect(data.length).toBe(expected.length);
    expect(data.every((value, i) => value === expected[i])).toBe(true);
  });

  it('says what is missing, and what to do', async () => {
    using model = await load('gpt2');
    await expect(model.embed([0])).rejects.toThrow(/no position table.*profile\.positions/);
    using plain = await load('gpt2', [], {}, { profile: { positions: 'none' } });
    expect((await plain.embed([0])).dims).toEqual([1, 4]);
  });
});

describe('profile', () => {
  it('is told, and every value can be overridden', async () => {
    using model = await load('granite', [], { 'granite.logit_scale': 8, 'granite.embedding_scale': 12 });
    expect(model.info.profile).toMatchObject({ family: 'granite', logitScale: 0.125, embeddingScale: 12 });
    using other = await load(
      'granite',
      [],
      {},
      { profile: { embeddingScale: 3, normalize: true, positions: 'none' } },
    );
    expect(other.info.profile).toMatchObject({ embeddingScale: 3, normalize: true });
    expect((await other.embed([1])).data[0]).toBe(Math.fround(Math.fround(0.4) * 3));
  });

  it('refuses what it does not know', async () => {
    const profile = { embedingScale: 3 } as LoadOptions['profile'];
    await expect(load('llama', [], {}, { profile })).rejects.toThrow(/embeddingScale/);
    await expect(load('llama', [], {}, { profile: { positions: 'rotary' as 'none' } })).rejects.toThrow(
      TypeError,
    );
  });
});

describe('output stage', () => {
  const hidden = Float32Array.of(1, 2, 3, 4);
  const dots = example.map((row) => row.reduce((sum, value, i) => sum + Math.fround(value) * hidden[i]!, 0));
  const close = (actual: ArrayLike<number>, expected: readonly number[]) => {
    expect(actual.length).toBe(expected.length);
    expected.forEach((value, i) => expect(actual[i]).toBeCloseTo(value, 5));
  };

  it('divides for Granite, multiplies for Cohere, caps for Gemma 2', async () => {
    using granite = await load('granite', [], { 'granite.logit_scale': 8 });
    close(
      (await granite.logits(hidden)).data,
      dots.map((z) => z / 8),
    );
    using cohere = await load('command-r', [], { 'command-r.logit_scale': 8 });
    close(
      (await cohere.logits(hidden)).data,
      dots.map((z) => z * 8),
    );
    using gemma = await load('gemma2', [], { 'gemma2.final_logit_softcapping': 2 });
    close(
      (await gemma.logits(hidden)).data,
      dots.map((z) => 2 * Math.tanh(z / 2)),
    );
    close(gemma.head!.logits(hidden).data, dots); // the table itself stays raw
  });

  it('adds the bias of the head, and ranks by it', async () => {
    using model = await load('phi2', [f32('output.weight', example), f32('output.bias', [0, 0, 0, 0, 0, 9])]);
    close(
      (await model.logits(hidden)).data,
      dots.map((z, id) => (id === 5 ? z + 9 : z)),
    );
    expect((await model.topK(hidden, 1)).indices[0]).toBe(5);
  });

  it('forbids, allows, limits', async () => {
    using model = await load('llama');
    const order = [...dots.keys()].sort((a, b) => dots[b]! - dots[a]!);
    const { indices } = await model.topK(hidden, 3, { forbid: [order[0]!] });
    expect(Array.from(indices)).toEqual(order.slice(1, 4));
    const scores = (await model.logits(hidden, { forbid: [2], limit: 5 })).data;
    expect([scores[2], scores[5]]).toEqual([-Infinity, -Infinity]);
    expect((await model.logits(hidden, { ids: [4, 0] })).dims).toEqual([1, 2]);
    expect((await model.logits(hidden, { ids: [] })).dims).toEqual([1, 0]);
    await expect(model.topK(hidden, 6, { forbid: [0] })).rejects.toThrow(RangeError);
    await expect(model.topK(hidden, 1, { forbid: [6] })).rejects.toThrow(RangeError);
  });

  it('gives probabilities that add up to 1', async () => {
    using model = await load('llama');
    const { data } = await model.logits(hidden, { scores: 'softmax', temperature: 0.5 });
    const total = dots.reduce((sum, z) => sum + Math.exp(2 * z), 0);
    close(
      data,
      dots.map((z) => Math.exp(2 * z) / total),
    );
    const { values } = await model.topK(hidden, 6, { scores: 'log-softmax' });
    expect(values.reduce((sum, value) => sum + Math.exp(value), 0)).toBeCloseTo(1, 5);
    await expect(model.logits(hidden, { temperature: 0 })).rejects.toThrow(TypeError);
    await expect(model.logits(hidden, { scores: 'odds' as 'logits' })).rejects.toThrow(/softmax/);
  });

  it('lets rows beyond the tokenizer not win', async () => {
    using model = await load('llama', [], { 'tokenizer.ggml.tokens': ['a', 'b', 'c'] });
    const best = dots.slice(0, 3).indexOf(Math.max(...dots.slice(0, 3)));
    expect((await model.topK(hidden, 1)).indices[0]).toBe(best);
    await expect(model.topK(hidden, 4)).rejects.toThrow(RangeError);
    expect((await model.topK(hidden, 4, { limit: 6 })).dims).toEqual([1, 4]);
  });
});

describe('pool', () => {
  const close = (actual: ArrayLike<number>, expected: readonly number[]) => {
    expect(actual.length).toBe(expected.length);
    expected.forEach((value, i) => expect(actual[i]).toBeCloseTo(value, 6));
  };
  const mean = (...ids: number[]) =>
    [0, 1, 2, 3].map((c) => ids.reduce((sum, id) => sum + example[id]![c]!, 0) / ids.length);

  it('takes one bag, a batch of bags, or offsets', async () => {
    using model = await load('llama');
    const one = await model.pool([0, 3]);
    expect(one.dims).toEqual([1, 4]);
    close(one.data, mean(0, 3));
    close(
      (
        await model.pool([
          [0, 3],
          [1, 1],
        ])
      ).data,
      [...mean(0, 3), ...mean(1)],
    );
    const bags = await model.pool([0, 3, 5], { offsets: [0, 2, 2] });
    expect(bags.dims).toEqual([3, 4]);
    close(bags.data, [...mean(0, 3), 0, 0, 0, 0, ...mean(5)]);
    await expect(model.pool([0], { offsets: [1] })).rejects.toThrow(RangeError);
    await expect(model.pool([6])).rejects.toThrow(RangeError);
  });

  it('leaves padding and masked ids out', async () => {
    using model = await load('llama', [], { 'tokenizer.ggml.padding_token_id': 2 });
    close((await model.pool([0, 2, 3])).data, mean(0, 3));
    close((await model.pool([0, 2, 3], { paddingId: null })).data, mean(0, 2, 3));
    close((await model.pool([0, 1, 3], { attentionMask: [1, 0, 1] })).data, mean(0, 3));
  });

  it('weighs, takes the greatest, truncates, normalizes', async () => {
    using model = await load('llama');
    close((await model.pool([0, 1], { mode: 'sum', weights: [2, -1] })).data, [-0.2, -0.5, 0.7, -0.1]);
    close((await model.pool([0, 1], { mode: 'max' })).data, [0.4, 0.1, 0.3, 0.2]);
    const { data, dims } = await model.pool([3], { dimensions: 2, normalize: true });
    expect(dims).toEqual([1, 2]);
    close(data, [0.05 / Math.hypot(0.05, 0.6), 0.6 / Math.hypot(0.05, 0.6)]);
    await expect(model.pool([0], { mode: 'median' as 'mean' })).rejects.toThrow(/mean, sum, max/);
  });

  it('pools many bags like few', async () => {
    using model = await load('llama');
    const ids = Uint32Array.from({ length: 9000 }, (_, i) => i % 6);
    const offsets = Uint32Array.from({ length: 3000 }, (_, b) => 3 * b);
    const { data } = await model.pool(ids, { offsets });
    for (const bag of [0, 1, 1023, 1024, 2999]) {
      close(data.subarray(bag * 4, bag * 4 + 4), mean(...ids.subarray(3 * bag, 3 * bag + 3)));
    }
  });

  it('weighs by frequency', async () => {
    using model = await load('llama');
    await model.weighByFrequency(0.1, [6, 3, 1, 0, 0, 0]);
    close(
      (await model.pool([0], { mode: 'sum' })).data,
      example[0]!.map((value) => (value * 0.1) / 0.7),
    );
    await expect(model.weighByFrequency(0)).rejects.toThrow(TypeError);
  });

  it('follows the mapping of a static embedding', async () => {
    const mapping = {
      name: 'mapping',
      dtype: 'I32' as const,
      shape: [3],
      data: new Uint8Array(Int32Array.of(5, 0, 5).buffer),
    };
    const file = safetensors([f32('embeddings', example), f32('weights', [1, 0.5, 2]), mapping]);
    using model = await EmbeddingModel.load(file);
    close(
      (await model.pool([0, 1, 2], { mode: 'sum' })).data,
      [0, 1, 2, 3].map((c) => 3 * example[5]![c]! + 0.5 * example[0]![c]!),
    );
    await expect(model.pool([3])).rejects.toThrow(RangeError);
  });
});

describe('geometry', () => {
  const cosine = (a: readonly number[], b: readonly number[]) => {
    const dot = (x: readonly number[], y: readonly number[]) =>
      x.reduce((sum, value, i) => sum + value * y[i]!, 0);
    return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
  };

  it('finds neighbours of an id, which is not its own, and of a vector', async () => {
    using model = await load('llama');
    const order = [0, 2, 3, 4, 5].sort(
      (a, b) => cosine(example[b]!, example[1]!) - cosine(example[a]!, example[1]!),
    );
    const { values, indices } = await model.nearest(1, 5);
    expect(Array.from(indices)).toEqual(order);
    expect(values[0]).toBeCloseTo(cosine(example[order[0]!]!, example[1]!), 5);
    expect((await model.nearest(Float32Array.from(example[1]!), 1)).indices[0]).toBe(1);
    expect((await model.nearest(1, 1, { metric: 'euclidean', exclude: [] })).indices[0]).toBe(1);
    await expect(model.nearest(1, 6)).rejects.toThrow(RangeError);
    await expect(model.nearest(6, 1)).rejects.toThrow(RangeError);
    await expect(model.nearest(new Float32Array(8), 1)).rejects.toThrow(TypeError);
  });

  it('completes an analogy without the words that were given', async () => {
    using model = await load('llama');
    const { indices } = await model.analogy({ positive: [0, 1], negative: [2] }, 3);
    expect(new Set([...indices, 0, 1, 2]).size).toBe(6);
    await expect(model.analogy({ positive: [], negative: [2] }, 1)).rejects.toThrow(TypeError);
  });

  it('compares a sequence with itself, and lays it out', async () => {
    using model = await load('llama');
    const { data, dims } = await model.similarity([0, 1, 0]);
    expect(dims).toEqual([3, 3]);
    expect(data[1]).toBeCloseTo(cosine(example[0]!, example[1]!), 5);
    expect(data[2]).toBeCloseTo(1, 6);
    const plane = await model.plane([0, 1, 2, 3, 4, 5]);
    expect(plane.dims).toEqual([6, 2]);
    expect(plane.explained[0]).toBeGreaterThanOrEqual(plane.explained[1]);
    await expect(model.plane([0])).rejects.toThrow(TypeError);
  });
});

describe('memory bill', () => {
  it('counts what the table costs in every format', async () => {
    using model = await load('llama', [
      f32(
        'output.weight',
        example.map((row) => row.map((value) => value + 1)),
      ),
    ]);
    const bill = model.info.memoryBill;
    expect(bill).toMatchObject({
      parameters: 24,
      bytes: 192,
      bitsPerWeight: 32,
      savedByTying: 96,
      shareOfFile: 1,
    });
    expect(bill.formats).toContainEqual({ format: 'F16', bytes: 48 });
    expect(bill.formats.some(({ format }) => format === 'Q8_0')).toBe(false);
  });
});

describe('rows that stay where they are', () => {
  const hidden = Float32Array.of(1, 2, 3, 4);
  const bias = [0.5, 0, -2, 0, 0, 3];
  const positions = [0, 1, 2].map((row) => [row, 10 * row, 0.5, -row]);
  const tensors = [
    f32('output.weight', example),
    f32('output.bias', bias),
    f32('position_embd.weight', positions),
  ];
  const metadata = { 'tokenizer.ggml.tokens': ['a', 'b', 'c', 'd', 'e'] };
  const both = async (options: LoadOptions = {}) =>
    Promise.all(
      (['memory', 'remote'] as const).map((residency) =>
        load('gpt2', tensors, metadata, { ...options, residency, profile: { logitScale: 0.5, softcap: 2 } }),
      ),
    );

  it('go through the same stages', async () => {
    const [here, there] = await both();
    using memory = here!;
    using remote = there!;
    expect(await remote.embed([3, 1, 3])).toEqual(await memory.embed([3, 1, 3]));
    const asked = { ids: [5, 0, 2, 0], forbid: [2], temperature: 0.5, scores: 'softmax' as const };
    expect(await remote.logits(hidden, asked)).toEqual(await memory.logits(hidden, asked));
    const top = { ids: [5, 0, 2, 1] };
    expect(await remote.topK(hidden, 3, top)).toEqual(await memory.topK(hidden, 3, top));
    expect(await remote.pool([5, 0])).toEqual(await memory.pool([5, 0]));
  });
});

it('nothing works after dispose', async () => {
  const model = await load('llama');
  model.dispose();
  await expect(model.embed([0])).rejects.toMatchObject({ code: 'disposed' });
  await expect(model.nearest(0, 1)).rejects.toMatchObject({ code: 'disposed' });
});
