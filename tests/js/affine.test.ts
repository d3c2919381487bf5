// Integers with scales apart, as their makers store them: rows bit for bit as the formula gives them, in every
// instruction set of this build and in every residency; logits within their bound.
import { EmbeddingError, EmbeddingModel } from 'id2vec';
import type { ByteSource } from 'id2vec';
import { describe, expect, it } from 'vitest';
import { ByteWriter } from './files/bytes.js';
import { isas } from './files/isas.js';
import { onnx } from './files/onnx.js';
import { bits, dot, dotBound, ranking } from './files/reference.js';
import { safetensors } from './files/safetensors.js';

const v = 9;

interface Case {
  name: string;
  dtype: string;
  root: string;
  file: Uint8Array;
  config?: object;
  rows: number[][];
  /** Rows that can be fetched one by one. */
  remote: boolean;
}

/** A generator of whole numbers below `bound`; the same numbers for the same seed. */
function randomBelow(seed: number): (bound: number) => number {
  let state = seed;
  return (bound) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * bound);
  };
}

/** One stream of integers of `width` bits, low bits first. */
function pack(values: readonly number[], width: number): Uint8Array {
  const out = new Uint8Array(Math.ceil((values.length * width) / 8));
  values.forEach((value, i) => {
    for (let bit = 0; bit < width; bit++) {
      const place = i * width + bit;
      if ((value >> bit) & 1) out[place >> 3]! |= 1 << (place & 7);
    }
  });
  return out;
}

const f32 = (values: readonly number[]) => new Uint8Array(Float32Array.from(values).buffer);
const grid = <T>(rows: number, cols: number, make: (row: number, col: number) => T): T[][] =>
  Array.from({ length: rows }, (_, row) => Array.from({ length: cols }, (_, col) => make(row, col)));

/** Numbers that F16 and BF16 hold exactly: 7 bits of fraction, small exponents. */
const scaleFrom = (random: (bound: number) => number) => (1 + random(128) / 128) * 2 ** (random(5) - 6);

const { fround } = Math;
const affine = (scale: number, q: number, zero: number) => fround(scale * (q - zero));

/** BF16 is the upper half of F32. */
function bf16(values: readonly number[]): Uint8Array {
  const out = new ByteWriter();
  for (const value of values) {
    const word = new Uint32Array(Float32Array.of(value).buffer)[0]! >>> 16;
    out.u8(word & 255).u8(word >> 8);
  }
  return out.finish();
}

function mlx(width: number, group: number, dtype: 'F32' | 'BF16'): Case {
  const d = 2 * group;
  const random = randomBelow(width * 1000 + group);
  const quants = grid(v, d, () => random(2 ** width));
  const scales = grid(v, d / group, () => scaleFrom(random));
  const biases = grid(v, d / group, () => -scaleFrom(random) * 4);
  const floats = dtype === 'F32' ? f32 : bf16;
  const name = 'model.embed_tokens';
  return {
    name: `MLX, ${width} bits in groups of ${group}, ${dtype} scales`,
    dtype: `AFFINE_${width}`,
    root: 'model.safetensors',
    file: safetensors([
      { name: `${name}.scales`, dtype, shape: [v, d / group], data: floats(scales.flat()) },
      { name: `${name}.biases`, dtype, shape: [v, d / group], data: floats(biases.flat()) },
      {
        name: `${name}.weight`,
        dtype: 'U32',
        shape: [v, (d * width) / 32],
        data: pack(quants.flat(), width),
      },
    ]),
    config: { quantization: { group_size: group, bits: width } },
    rows: grid(v, d, (row, col) => {
      const g = Math.floor(col / group);
      return fround(affine(scales[row]![g]!, quants[row]![col]!, 0) + biases[row]![g]!);
    }),
    remote: true,
  };
}

/** Code 8 is −0 in E2M1; the format MXFP4 has integers behind its codes and gives 0. */
const e2m1 = [0, 0.5, 1, 1.5, 2, 3, 4, 6].flatMap(
  (value, i) =>
    [
      [i, value],
      [i + 8, 0 - value],
    ] as const,
);

function mxfp4(): Case {
  const d = 96;
  const random = randomBelow(44);
  const codes = grid(v, d, () => random(16));
  const exponents = grid(v, d / 32, () => 120 + random(12));
  const values = new Map(e2m1);
  return {
    name: 'MLX, mxfp4',
    dtype: 'MXFP4',
    root: 'model.safetensors',
    file: safetensors([
      { name: 'wte.scales', dtype: 'U8', shape: [v, d / 32], data: Uint8Array.from(exponents.flat()) },
      { name: 'wte.weight', dtype: 'U32', shape: [v, d / 8], data: pack(codes.flat(), 4) },
    ]),
    config: { quantization: { group_size: 32, bits: 4, mode: 'mxfp4' } },
    rows: grid(v, d, (row, col) => values.get(codes[row]![col]!)! * 2 ** (exponents[row]![col >> 5]! - 127)),
    remote: false,
  };
}

/** Scales of the whole row (or maxima, 127 times as large). */
function rowInt8(scaleName: string, factor: number): Case {
  const d = 100;
  const random = randomBelow(scaleName.length);
  const quants = grid(v, d, () => random(256) - 128);
  const stored = Array.from({ length: v }, () => fround(scaleFrom(random) / fround(factor)));
  return {
    name: `int8 with ${scaleName}`,
    dtype: 'AFFINE_8',
    root: 'model.safetensors',
    file: safetensors([
      { name: `wte.${scaleName}`, dtype: 'F32', shape: [v, 1], data: f32(stored) },
      { name: 'wte.weight', dtype: 'I8', shape: [v, d], data: Uint8Array.from(quants.flat()) },
    ]),
    rows: grid(v, d, (row, col) => affine(fround(stored[row]! * fround(factor)), quants[row]![col]!, 0)),
    remote: true,
  };
}

/** Three blocks of 16 in a row: an odd number of nibbles of zero points. */
function gatherBlocks(how: 'U8' | 'U4' | 'I4'): Case {
  const [d, block] = [48, 16];
  const random = randomBelow(how.charCodeAt(0) + how.charCodeAt(1));
  const lowest = how === 'I4' ? -8 : 0;
  const quants = grid(v, d, () => lowest + random(16));
  const zeros = grid(v, d / block, () => lowest + random(16));
  const scales = grid(v, d / block, () => scaleFrom(random));
  // The operator pads the rows of its own bytes; a tensor of a 4-bit type is one run of nibbles.
  const zeroBytes = how === 'U8' ? zeros.flatMap((row) => [...pack(row, 4)]) : [...pack(zeros.flat(), 4)];
  const perByte = how === 'U8' ? 2 : 1;
  const zeroShape = how === 'U8' ? [v, 2] : [v, d / block];
  return {
    name: `GatherBlockQuantized, ${how}, three zero points in a row`,
    dtype: 'AFFINE_4',
    root: 'model.onnx',
    file: onnx({
      nodes: [
        {
          op: 'GatherBlockQuantized',
          inputs: ['q', 'input_ids', 's', 'z'],
          output: 'x',
          attributes: { bits: 4, block_size: block, gather_axis: 0, quantize_axis: 1 },
        },
      ],
      tensors: [
        { name: 'q', dtype: how, shape: [v, d / perByte], data: pack(quants.flat(), 4) },
        { name: 's', dtype: 'F32', shape: [v, d / block], data: f32(scales.flat()) },
        { name: 'z', dtype: how, shape: zeroShape, data: Uint8Array.from(zeroBytes) },
      ],
      inputs: [{ name: 'input_ids', dtype: 'I64', shape: ['n'] }],
      outputs: [{ name: 'x', dtype: 'F32', shape: ['n', d] }],
    }),
    rows: grid(v, d, (row, col) => {
      const g = Math.floor(col / block);
      return affine(scales[row]![g]!, quants[row]![col]!, zeros[row]![g]!);
    }),
    remote: how === 'U8',
  };
}

const cases: Case[] = [
  mlx(2, 32, 'F32'),
  mlx(3, 64, 'BF16'),
  mlx(4, 32, 'BF16'),
  mlx(4, 128, 'F32'),
  mlx(6, 64, 'F32'),
  mlx(8, 128, 'BF16'),
  mxfp4(),
  rowInt8('weight_scale', 1),
  rowInt8('SCB', 1 / 127),
  gatherBlocks('U8'),
  gatherBlocks('U4'),
  gatherBlocks('I4'),
];

const source = (bytes: Uint8Array): ByteSource => ({
  byteLength: bytes.length,
  slice: (start, end) => bytes.slice(start, end),
});

function sourceOf({ root, file, config }: Case): ByteSource {
  const bytes = new TextEncoder().encode(JSON.stringify(config));
  return {
    ...source(file),
    name: root,
    sibling: (name) => (config !== undefined && name === 'config.json' ? source(bytes) : undefined),
  };
}

const ids = [8, 0, 3, 3, 7, 1];

describe.each(cases)('$name', (each) => {
  const { rows, dtype, remote } = each;
  const d = rows[0]!.length;
  const expected = bits(ids.flatMap((id) => rows[id]!));

  it.each(isas)('is dequantized bit for bit (%s)', async (isa) => {
    using model = await EmbeddingModel.load(sourceOf(each), { isa });
    expect([model.vocabSize, model.dim, model.dtype, model.info.isa]).toEqual([v, d, dtype, isa]);
    expect(bits((await model.lookup(ids)).data)).toEqual(expected);
  });

  it.each(isas)('is scored within its bound (%s)', async (isa) => {
    using model = await EmbeddingModel.load(sourceOf(each), { isa });
    const hidden = Float32Array.from({ length: d }, (_, i) => Math.sin(3 * i) + 0.25);
    const exact = rows.map((row) => dot(row, hidden));
    const { data } = await model.logits(hidden);
    data.forEach((score, id) => {
      expect(Math.abs(score - exact[id]!), `id ${id}`).toBeLessThanOrEqual(dotBound(rows[id]!, hidden));
    });
    expect((await model.topK(hidden, 1)).indices[0]).toBe(ranking(exact)[0]);
  });

  it('is the same where the rows live elsewhere', async () => {
    using spread = await EmbeddingModel.load(sourceOf(each), { residency: 'workers', workers: 2 });
    expect(bits((await spread.lookup(ids)).data)).toEqual(expected);
    const far = EmbeddingModel.load(sourceOf(each), { residency: 'remote' });
    if (remote) {
      using model = await far;
      expect(bits((await model.lookup(ids)).data)).toEqual(expected);
    } else {
      const failure = await far.catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(EmbeddingError);
      expect((failure as EmbeddingError).message).toMatch(
        /^Single rows of .* cannot be fetched, because it has /,
      );
    }
  });
});

describe('a head that cannot be read', () => {
  const file = safetensors([
    { name: 'wte.weight', dtype: 'F32', shape: [3, 2], data: f32([1, 2, 3, 4, 5, 6]) },
    { name: 'lm_head.weight', dtype: 'U8', shape: [3, 1], data: Uint8Array.of(1, 2, 3) },
  ]);

  it('leaves the embedding, and refuses logits instead of taking the embedding for it', async () => {
    using model = await EmbeddingModel.load(file);
    expect((await model.lookup([2])).data).toEqual(Float32Array.of(5, 6));
    expect([model.tied, model.head]).toEqual([false, undefined]);
    expect(model.info.warnings).toEqual([expect.stringContaining('the head cannot be read')]);
    const hidden = Float32Array.of(1, 1);
    for (const call of [model.logits(hidden), model.topK(hidden, 1)]) {
      await expect(call).rejects.toMatchObject({ name: 'EmbeddingError', code: 'unsupported' });
      await expect(call).rejects.toThrow(/so there are no logits: tensor 'lm_head.weight' holds U8 values/);
    }
    await expect(model.save()).rejects.toThrow(/so there are no logits/);
  });

  it('may be replaced by the caller', async () => {
    using model = await EmbeddingModel.load(file, { head: 'wte.weight' });
    expect(model.tied).toBe(true);
    expect((await model.logits(Float32Array.of(1, 1))).data).toEqual(Float32Array.of(3, 7, 11));
  });
});
