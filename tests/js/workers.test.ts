// Rows spread over workers give what one memory gives, whatever the split; and a worker that dies is an error.
import { EmbeddingModel } from 'id2vec';
import type { LoadOptions } from 'id2vec';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { mergeTop } from '../../bindings/js/residency/merge.js';
import { place } from './faults/client.js';
import { randomNumbers, randomTable } from './files/formats.js';
import { gguf } from './files/gguf.js';

const isNode = typeof process !== 'undefined' && process.versions?.node !== undefined;
const [rows, dim] = [203, 64];
const table = randomTable('Q8_0', rows, dim, 1);
const other = randomTable('Q8_0', rows, dim, 2);
const tensor = (name: string, data: Uint8Array) => ({
  name,
  dtype: 'Q8_0' as const,
  shape: [rows, dim],
  data,
});
const tied = gguf([tensor('token_embd.weight', table)]);
const twice = gguf([tensor('token_embd.weight', table), tensor('output.weight', table)]);
const untied = gguf([tensor('token_embd.weight', table), tensor('output.weight', other)]);

const random = randomNumbers(3);
const hidden = Float32Array.from({ length: 3 * dim }, () => random() * 2 - 1);
const inWorkers = (file: Uint8Array, workers: LoadOptions['workers']) =>
  EmbeddingModel.load(file, { residency: 'workers', workers });

describe.each([1, 2, 3, 7])('%i workers', (workers) => {
  describe.each([
    ['tied', tied],
    ['stored twice', twice],
    ['untied', untied],
  ])('%s', (kind, file) => {
    let one: EmbeddingModel;
    let many: EmbeddingModel;
    beforeAll(async () => {
      one = await EmbeddingModel.load(file);
      many = await inWorkers(file, workers);
    });
    afterAll(() => {
      one.dispose();
      many.dispose();
    });

    it('say what they are', () => {
      const { memory, ...info } = one.info;
      expect(many.info).toMatchObject({ ...info, residency: 'workers' });
      expect(many.tied).toBe(kind !== 'untied');
      expect(many.info.memory).toMatchObject({ embedding: memory.embedding, head: memory.head });
      expect(many.table).toBeUndefined();
    });

    it('look up the same rows', async () => {
      const ids = [202, 0, 5, 101, 102, 68, 67, 5];
      expect(await many.lookup(ids)).toEqual(await one.lookup(ids));
      expect(await many.lookup([[1, 200]])).toEqual(await one.lookup([[1, 200]]));
      expect((await many.lookup([])).dims).toEqual([0, dim]);
      const out = new Float32Array(2 * dim);
      expect((await many.lookup([7, 150], { out })).data).toBe(out);
      expect(out).toEqual((await one.lookup([7, 150])).data);
    });

    it('give the same scores', async () => {
      expect(await many.logits(hidden)).toEqual(await one.logits(hidden));
      const ids = [150, 3, 202, 3];
      expect(await many.logits(hidden, { ids })).toEqual(await one.logits(hidden, { ids }));
      const tensor = { data: hidden, dims: [1, 3, dim] };
      expect(await many.logits(tensor, { precision: 'fast' })).toEqual(
        await one.logits(tensor, { precision: 'fast' }),
      );
    });

    it('rank alike', async () => {
      for (const k of [1, 10, rows]) expect(await many.topK(hidden, k)).toEqual(await one.topK(hidden, k));
      const ids = [150, 3, 202, 77];
      expect(await many.topK(hidden, 3, { ids })).toEqual(await one.topK(hidden, 3, { ids }));
      expect(await many.topK(hidden, 4, { limit: 30 })).toEqual(await one.topK(hidden, 4, { limit: 30 }));
    });

    it('refuse the same arguments', async () => {
      await expect(many.lookup([203])).rejects.toThrow(/id 203 at position 0/);
      await expect(many.logits(new Float32Array(3))).rejects.toBeInstanceOf(TypeError);
      await expect(many.topK(hidden, rows + 1)).rejects.toBeInstanceOf(RangeError);
    });
  });
});

describe('workers', () => {
  it('answer calls that are made at the same time', async () => {
    using model = await inWorkers(untied, 2);
    const [a, b, c] = await Promise.all([model.lookup([1]), model.topK(hidden, 2), model.lookup([202])]);
    expect(a).toEqual(await model.lookup([1]));
    expect(b).toEqual(await model.topK(hidden, 2));
    expect(c).toEqual(await model.lookup([202]));
  });

  it('are sent a hidden vector, and not the memory of another runtime in which it lies', async () => {
    using model = await inWorkers(tied, 2);
    const memory = new Float32Array(1 << 20);
    const view = memory.subarray(1000, 1000 + dim);
    view.set(hidden.subarray(0, dim));
    const expected = {
      scores: await model.logits(hidden.slice(0, dim)),
      best: await model.topK(hidden.slice(0, dim), 3),
      near: await model.nearest(hidden.slice(0, dim), 3),
    };
    const name = 'node:worker_threads';
    const threads = (isNode ? await import(/* @vite-ignore */ name) : globalThis) as typeof globalThis;
    const post = vi.spyOn(threads.Worker.prototype, 'postMessage');
    const found = {
      scores: await model.logits(view),
      best: await model.topK({ data: view, dims: [1, dim] }, 3),
      near: await model.nearest(view, 3),
    };
    const sent = post.mock.calls.flatMap(([message]): unknown[] =>
      Object.values((message as { request: object }).request),
    );
    post.mockRestore();
    const floats = sent.filter((value) => value instanceof Float32Array);
    expect(floats.length).toBeGreaterThanOrEqual(6);
    for (const { buffer } of floats) expect(buffer.byteLength).toBeLessThan(4096);
    expect(found.scores.data).toEqual(expected.scores.data);
    expect(found.best.indices).toEqual(expected.best.indices);
    expect(found.near).toEqual(expected.near);
  });

  it('are as many as is sensible, if nobody says', async () => {
    using model = await inWorkers(tied, 'auto');
    expect((await model.lookup([9])).dims).toEqual([1, dim]);
    await expect(inWorkers(tied, 0)).rejects.toBeInstanceOf(RangeError);
  });

  it('scale and cap scores as one memory does, and say what they cannot do', async () => {
    const profile = { hiddenScale: 0.5, logitScale: 0.25, softcap: 30 };
    using one = await EmbeddingModel.load(tied, { profile });
    using many = await EmbeddingModel.load(tied, { profile, residency: 'workers', workers: 3 });
    const options = { temperature: 2, limit: 100 };
    const [a, b] = [await one.logits(hidden, options), await many.logits(hidden, options)];
    a.data.forEach((value, i) => {
      if (value === -Infinity) expect(b.data[i]).toBe(-Infinity);
      else expect(b.data[i]).toBeCloseTo(value, 4);
    });
    expect((await many.topK(hidden, 5)).indices).toEqual((await one.topK(hidden, 5)).indices);
    await expect(many.topK(hidden, 5, { forbid: [1] })).rejects.toThrow(/forbidden ids.*"memory"/);
    await expect(many.logits(hidden, { scores: 'softmax' })).rejects.toMatchObject({ code: 'unsupported' });
    await expect(many.logits(hidden, { temperature: 0 })).rejects.toBeInstanceOf(TypeError);
    expect((await many.embed([3, 150])).data).toEqual((await one.embed([3, 150])).data);
  });

  it('end with the model: calls that wait reject, and so do later ones', async () => {
    const model = await inWorkers(tied, 2);
    const waiting = model.lookup([1, 202]);
    model.dispose();
    await expect(waiting).rejects.toMatchObject({ code: 'disposed' });
    await expect(model.lookup([1])).rejects.toMatchObject({ code: 'disposed' });
  });

  it.each([
    ['is not there', () => new URL('./no-such-worker.js', import.meta.url), /no-such-worker/],
    // In browsers it is also of another origin.
    ['is a web page', () => place('html', 'pattern-10.bin').url, /127\.0\.0\.1.*option "worker"/],
  ])('whose file %s are an error that says so, not a hang', async (_, worker, message) => {
    const failure = EmbeddingModel.load(tied, { residency: 'workers', workers: 2, worker: worker() });
    await expect(failure).rejects.toMatchObject({ code: 'worker' });
    await expect(failure).rejects.toThrow(message);
  });

  it.skipIf(isNode)('run a file of another origin, as a package from a CDN has it', async () => {
    const worker = place('script', 'worker.js').url;
    using one = await EmbeddingModel.load(tied);
    using many = await EmbeddingModel.load(tied, { residency: 'workers', workers: 2, worker });
    expect(await many.lookup([0, 202])).toEqual(await one.lookup([0, 202]));
  });

  it('that die while they are waited for are an error, not a hang', async () => {
    const worker = 'data:text/javascript,setTimeout(() => { throw new Error("gone"); }, 50)';
    const failure = EmbeddingModel.load(tied, { residency: 'workers', workers: 2, worker });
    await expect(failure).rejects.toMatchObject({ code: 'worker' });
    await expect(failure).rejects.toThrow(/gone/);
  });

  it('stop loading when asked to', async () => {
    const controller = new AbortController();
    const load = EmbeddingModel.load(tied, {
      residency: 'workers',
      workers: 2,
      signal: controller.signal,
      onProgress: () => controller.abort(new Error('enough')),
    });
    await expect(load).rejects.toThrow('enough');
  });
});

describe('merging the best of shards', () => {
  const shard = (values: number[], indices: number[]) => ({
    values: Float32Array.from(values),
    indices: Int32Array.from(indices),
    k: values.length,
  });

  it('breaks ties by the lower id, and passes over what is missing', () => {
    const top = mergeTop(
      [shard([5, 1], [3, 0]), shard([5, 5], [10, 12]), shard([-Infinity], [-1])],
      1,
      5,
      [1],
    );
    expect(Array.from(top.indices)).toEqual([3, 10, 12, 0, -1]);
    expect(Array.from(top.values)).toEqual([5, 5, 5, 1, -Infinity]);
    expect(top.dims).toEqual([1, 5]);
  });
});
