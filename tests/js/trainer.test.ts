// Training through the package: what a user sees of gradients, optimizers and saved tables. The formulas are tested
// natively (tests/cpp/optimizer_test.cpp, head_training_test.cpp, input_training_test.cpp).
import { EmbeddingError, EmbeddingModel } from 'id2vec';
import { describe, expect, test } from 'vitest';

const fresh = (vocabSize = 6, dim = 4) => EmbeddingModel.create({ vocabSize, dim, seed: 3 });
const all = (model: EmbeddingModel) => Array.from({ length: model.vocabSize }, (_, id) => id);
const rowsOf = async (model: EmbeddingModel) => (await model.lookup(all(model))).data;
const ones = (count: number, value = 1) => new Float32Array(count).fill(value);

describe('a fresh table', () => {
  test('has the asked-for deviation, is tied, and is the same for the same seed', async () => {
    const options = { vocabSize: 2000, dim: 64, seed: 7 };
    using model = await EmbeddingModel.create(options);
    using again = await EmbeddingModel.create(options);
    using other = await EmbeddingModel.create({ ...options, seed: 8 });
    const rows = await rowsOf(model);
    expect(await rowsOf(again)).toEqual(rows);
    expect(await rowsOf(other)).not.toEqual(rows);
    const meanSquare = rows.reduce((sum, weight) => sum + weight * weight, 0) / rows.length;
    expect(Math.sqrt(meanSquare)).toBeCloseTo(1 / 8, 2);
    expect([model.tied, model.dtype, model.vocabSize, model.dim]).toEqual([true, 'F32', 2000, 64]);
  });

  test('leaves the padding row zero', async () => {
    using model = await EmbeddingModel.create({ vocabSize: 4, dim: 3, profile: { paddingId: 2 } });
    expect([...(await model.lookup([2])).data]).toEqual([0, 0, 0]);
    using trainer = model.trainer({ optimizer: 'sgd', learningRate: 1 });
    trainer.accumulate([2, 1], ones(6));
    trainer.step();
    expect([...(await model.lookup([2])).data]).toEqual([0, 0, 0]);
  });

  test('refuses sizes that are none', async () => {
    await expect(EmbeddingModel.create({ vocabSize: 0, dim: 3 })).rejects.toThrow(/vocabSize is 0/);
    await expect(EmbeddingModel.create({ vocabSize: 3, dim: 1.5 })).rejects.toThrow(/dim is 1.5/);
    await expect(EmbeddingModel.create({ vocabSize: 3, dim: 3, seed: -1 })).rejects.toThrow(/seed is -1/);
    const profile = { paddingId: 50 };
    await expect(EmbeddingModel.create({ vocabSize: 3, dim: 3, profile })).rejects.toThrow(/paddingId is 50/);
  });
});

describe('gradients', () => {
  // The worked example of the lookup: ids [3, 1, 3] leave rows 0, 2, 4 and 5 exactly zero, row 3 the sum of two.
  test('[3, 1, 3]', async () => {
    using model = await fresh();
    using trainer = model.trainer();
    trainer.accumulate([3, 1, 3], Float32Array.from([1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3]));
    const { indices, values } = trainer.gradient();
    expect([...indices]).toEqual([1, 3]);
    expect([...values]).toEqual([2, 2, 2, 2, 4, 4, 4, 4]);
    trainer.zeroGrad();
    expect(trainer.gradient().indices).toHaveLength(0);
  });

  test('of a batch, of the scale, of frequencies', async () => {
    using model = await EmbeddingModel.create({ vocabSize: 5, dim: 1, profile: { embeddingScale: 3 } });
    using trainer = model.trainer({ scaleGradByFreq: true });
    trainer.accumulate([[4, 4]], { data: Float32Array.from([1, 5]), dims: [1, 2, 1] }, 'embed');
    expect([...trainer.gradient().values]).toEqual([9]);
  });

  test('of pooled bags', async () => {
    using model = await fresh();
    using trainer = model.trainer();
    trainer.accumulatePool([0, 1, 2], ones(8, 6), { offsets: [0, 2] });
    expect([...trainer.gradient().values]).toEqual([...ones(8, 3), ...ones(4, 6)]);
  });

  test('of both ends add up in the one tied table', async () => {
    using model = await fresh();
    const hidden = Float32Array.from([0.3, -0.2, 0.5, 0.1]);
    const parts = [() => trainer.accumulate([3], ones(4)), () => trainer.crossEntropy(hidden, [2])];
    using trainer = model.trainer();
    const gradientOf = (run: (() => unknown)[]) => {
      trainer.zeroGrad();
      run.forEach((part) => part());
      const dense = new Float32Array(24);
      const { indices, values } = trainer.gradient();
      indices.forEach((id, i) => dense.set(values.subarray(4 * i, 4 * i + 4), 4 * id));
      return dense;
    };
    const [input, output, both] = [[parts[0]!], [parts[1]!], parts].map(gradientOf) as Float32Array[];
    both!.forEach((value, i) => expect(value).toBeCloseTo(input![i]! + output![i]!, 5));
    expect(model.head).toBe(model.table);
    expect(model.head!.address).toBe(model.table!.address);
  });

  test('cross-entropy agrees with logits that are made explicit', async () => {
    using model = await fresh();
    using trainer = model.trainer();
    const hidden = Float32Array.from([0.3, -0.2, 0.5, 0.1, 1, 2, -1, 0.5]);
    const { data } = await model.logits(hidden);
    const { loss, dHidden } = trainer.crossEntropy(hidden, [2, 5]);
    const fused = trainer.gradient().values;
    let expected = 0;
    const dLogits = new Float32Array(12);
    [2, 5].forEach((target, n) => {
      const exp = Array.from(data.subarray(6 * n, 6 * n + 6), Math.exp);
      const sum = exp.reduce((a, b) => a + b);
      expected -= Math.log(exp[target]! / sum) / 2;
      exp.forEach((e, id) => (dLogits[6 * n + id] = (e / sum - Number(id === target)) / 2));
    });
    expect(loss).toBeCloseTo(expected, 6);
    trainer.zeroGrad();
    const explicit = trainer.accumulateLogits(hidden, dLogits);
    dHidden.forEach((value, i) => expect(value).toBeCloseTo(explicit[i]!, 6));
    trainer.gradient().values.forEach((value, i) => expect(value).toBeCloseTo(fused[i]!, 6));
  });
});

describe('optimizers', () => {
  const names = ['sgd', 'momentum', 'adagrad', 'rowwise-adagrad', 'adam', 'adamw'] as const;

  test.each(names)(
    '%s moves touched rows and leaves the others as they are, bit for bit',
    async (optimizer) => {
      using model = await fresh(50, 8);
      const before = await rowsOf(model);
      using trainer = model.trainer({ optimizer, weightDecay: 0.1, learningRate: 0.01 });
      for (let step = 0; step < 100; step++) {
        trainer.accumulate([7, 9], ones(16, step % 3 ? 0.1 : -0.3));
        trainer.step();
      }
      const after = await rowsOf(model);
      const moved = all(model).filter((id) =>
        before.subarray(8 * id, 8 * id + 8).some((w, i) => w !== after[8 * id + i]),
      );
      expect(moved).toEqual([7, 9]);
      expect(trainer.steps).toBe(100);
    },
  );

  test('dense mode shrinks every row by the predicted factor', async () => {
    using model = await fresh(50, 8);
    const before = await rowsOf(model);
    using trainer = model.trainer({ optimizer: 'adamw', weightDecay: 0.1, learningRate: 0.01, dense: true });
    for (let step = 0; step < 100; step++) {
      trainer.accumulate([7], ones(8));
      trainer.step();
    }
    const after = await rowsOf(model);
    const factor = (1 - 0.01 * 0.1) ** 100;
    expect(after[0]).toBeCloseTo(before[0]! * factor, 5);
  });

  test('state is proportional to the rows that were touched', async () => {
    using model = await EmbeddingModel.create({ vocabSize: 250_000, dim: 16, standardDeviation: 0 });
    using trainer = model.trainer({ optimizer: 'adam' });
    trainer.accumulate(
      Array.from({ length: 1000 }, (_, i) => 249 * i),
      ones(16_000),
    );
    trainer.step();
    expect(trainer.stateRows).toBe(1000);
    expect(trainer.stateBytes).toBeLessThan(1000 * (2 * 16 * 4 + 32) * 2);
  });

  test('saved state goes on where it was', async () => {
    using one = await fresh();
    using two = await fresh();
    using a = one.trainer({ optimizer: 'adam' });
    a.accumulate([1], ones(4));
    a.step();
    using first = two.trainer({ optimizer: 'adam' });
    first.accumulate([1], ones(4));
    first.step();
    const state = first.saveState();
    using b = two.trainer({ optimizer: 'adam' });
    b.restoreState(state);
    for (const trainer of [a, b]) {
      trainer.accumulate([1, 2], ones(8, -0.5));
      trainer.step();
    }
    expect(await rowsOf(two)).toEqual(await rowsOf(one));
    expect(() => b.restoreState(state.subarray(1))).toThrow(/optimizer state/);
    expect(b.steps).toBe(2);
  });

  test('neighbours are of the rows as they are now', async () => {
    using model = await fresh(20, 8);
    await model.nearest(0, 1);
    using trainer = model.trainer({ optimizer: 'sgd', learningRate: 1 });
    const { data } = await model.lookup([0, 5]);
    trainer.accumulate(
      [5],
      data.subarray(0, 8).map((x, i) => data[8 + i]! - 3 * x),
    );
    trainer.step(); // row 5 is three times row 0 now
    const { indices, values } = await model.nearest(0, 1);
    expect(indices[0]).toBe(5);
    expect(values[0]).toBeCloseTo(1, 5);
  });
});

describe('saved tables', () => {
  test.each(['gguf', 'safetensors'] as const)(
    '%s loads again and is the same when saved again',
    async (container) => {
      using model = await fresh(40, 32);
      const bytes = await model.save(container);
      using again = await EmbeddingModel.load(bytes);
      expect(await rowsOf(again)).toEqual(await rowsOf(model));
      expect(again.tied).toBe(true);
      expect(await again.save(container)).toEqual(bytes);
    },
  );
});

describe('wrong input is refused, and nothing has changed', () => {
  test('gradients', async () => {
    using model = await fresh();
    const before = await rowsOf(model);
    using trainer = model.trainer();
    trainer.accumulate([1], ones(4));
    const gradient = trainer.gradient();
    expect(() => trainer.accumulate([6], ones(4))).toThrow(RangeError);
    expect(() => trainer.accumulate([1, 2], ones(4))).toThrow(TypeError);
    expect(() => trainer.accumulate([1], ones(4, NaN))).toThrow(/not finite/);
    expect(() => trainer.accumulate([1], ones(4, Infinity))).toThrow(/not finite/);
    expect(() => trainer.accumulatePool([1, 2], ones(5))).toThrow(TypeError);
    expect(() => trainer.crossEntropy(ones(4), [6])).toThrow(RangeError);
    expect(() => trainer.crossEntropy(ones(4), [1, 2])).toThrow(TypeError);
    expect(() => trainer.accumulateLogits(ones(4), ones(5))).toThrow(TypeError);
    expect(trainer.gradient()).toEqual(gradient);
    expect(await rowsOf(model)).toEqual(before);
    trainer.step();
    expect(trainer.steps).toBe(1);
  });

  test('options', async () => {
    using model = await fresh();
    const make = (options: object) => () => model.trainer(options);
    expect(make({ optimizer: 'adamax' })).toThrow(/adamw/);
    expect(make({ learningRate: -1 })).toThrow(/learningRate/);
    expect(make({ weigthDecay: 1 })).toThrow(/weigthDecay/);
    expect(make({ optimizer: 'sgd', perRowSteps: true })).toThrow(/perRowSteps/);
  });

  test('tables that are not F32, until they are dequantized on purpose', async () => {
    using float = await fresh(40, 32);
    using quantized = await EmbeddingModel.load(await float.save(), {});
    using table = await quantized.table!.quantize('Q8_0');
    expect(table.dtype).toBe('Q8_0');
    using copy = await quantized.dequantize();
    expect(await rowsOf(copy)).toEqual(await rowsOf(quantized));
    using trainer = copy.trainer({ optimizer: 'sgd' });
    trainer.accumulate([1], ones(32));
    trainer.step();
    expect(await rowsOf(copy)).not.toEqual(await rowsOf(quantized));
  });

  test('a trainer that was disposed of, or whose model was', async () => {
    const model = await fresh();
    const trainer = model.trainer();
    const other = model.trainer();
    trainer.dispose();
    expect(() => trainer.step()).toThrow(EmbeddingError);
    model.dispose();
    expect(() => other.step()).toThrow(/disposed/);
    other.dispose();
  });
});
