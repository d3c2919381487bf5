// The commands around a table, run as processes.
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { corpusPath, hasCorpus, projectPath } from './corpus.js';
import { gguf } from './files/gguf.js';

const rows = [
  [3, 4],
  [4, 3],
  [-3, 4],
  [0, -5],
];
const pieces = ['▁north', '▁east', '▁west', '▁south'];

let folder: string;
let model: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'id2vec-stages-'));
  model = join(folder, 'model.gguf');
  const data = (values: number[][]) => new Uint8Array(Float32Array.from(values.flat()).buffer);
  const positions = [
    [10, 20],
    [30, 40],
  ];
  const tensors = [
    { name: 'token_embd.weight', dtype: 'F32' as const, shape: [4, 2], data: data(rows) },
    { name: 'position_embd.weight', dtype: 'F32' as const, shape: [2, 2], data: data(positions) },
  ];
  await writeFile(model, gguf(tensors, { 'general.architecture': 'gpt2', 'tokenizer.ggml.tokens': pieces }));
});
afterAll(() => rm(folder, { recursive: true }));

interface Run {
  code: number;
  stdout: string;
  stderr: string;
}

function id2vec(...words: string[]): Promise<Run> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [projectPath('dist/cli.js'), ...words], (_, stdout, stderr) => {
      resolve({ code: child.exitCode ?? -1, stdout, stderr });
    });
  });
}

async function json(...words: string[]): Promise<unknown> {
  const { code, stdout, stderr } = await id2vec(...words, '--json');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout);
}

describe('id2vec embed', () => {
  it('adds positions, from the offset on', async () => {
    expect(await json('embed', model, '1', '0')).toEqual({ dims: [2, 2], data: [14, 23, 33, 44] });
    expect(await json('embed', model, '1', '--position-offset', '1')).toEqual({
      dims: [1, 2],
      data: [34, 43],
    });
  });

  it('says in one line what is wrong', async () => {
    const far = await id2vec('embed', model, '0', '1', '2');
    expect(far).toMatchObject({ code: 1, stdout: '' });
    expect(far.stderr).toMatch(/^.*osition 2.*\n$/);
    expect((await id2vec('embed', model, '0', '--position-offset', 'x')).code).toBe(2);
    expect((await id2vec('embed', model)).code).toBe(2);
  });

  it('says what --text needs', async () => {
    const run = await id2vec('embed', model, '--text', 'north');
    expect(run.code).toBe(1);
    expect(run.stderr).toMatch(/does not say what kind.*tokenizer\.json/);
    expect((await id2vec('embed', model, '0', '--text', 'north')).code).toBe(2);
  });
});

describe('id2vec pool', () => {
  it('takes the mean, the sum, the greatest; truncates and normalizes', async () => {
    expect(await json('pool', model, '0', '1')).toEqual({ dims: [1, 2], data: [3.5, 3.5] });
    expect(await json('pool', model, '0', '1', '--mode', 'sum')).toEqual({ dims: [1, 2], data: [7, 7] });
    expect(await json('pool', model, '0', '1', '--mode', 'max')).toEqual({ dims: [1, 2], data: [4, 4] });
    const { dims, data } = (await json('pool', model, '0', '--normalize')) as {
      dims: number[];
      data: number[];
    };
    expect(dims).toEqual([1, 2]);
    [0.6, 0.8].forEach((value, i) => expect(data[i]).toBeCloseTo(value, 6));
    expect(await json('pool', model, '0', '--dimensions', '1')).toEqual({ dims: [1, 1], data: [3] });
    expect((await id2vec('pool', model, '0', '--mode', 'median')).code).toBe(2);
  });

  it.skipIf(!hasCorpus)('takes text where a tokenizer lies beside the model', async () => {
    const file = corpusPath('safetensors/model2vec/float32/model.safetensors');
    const { data } = (await json('pool', file, '--text', 'hello world', '--no-special-tokens')) as {
      data: number[];
    };
    [-0.3934547, -0.919344].forEach((value, i) => expect(data[i]).toBeCloseTo(value, 5));
  });
});

describe('id2vec nearest and analogy', () => {
  it('takes an id or a piece, and leaves it out', async () => {
    const expected = { indices: [1, 2, 3], tokens: ['▁east', '▁west', '▁south'] };
    for (const word of ['0', 'north', '▁north']) {
      expect(await json('nearest', model, word, '--top', '10')).toMatchObject(expected);
    }
    const { values } = (await json('nearest', model, '0', '--top', '1')) as { values: number[] };
    expect(values[0]).toBeCloseTo(0.96, 6);
    expect(await json('nearest', model, '0', '--top', '1', '--metric', 'euclidean')).toMatchObject({
      indices: [1],
    });
  });

  it('completes an analogy', async () => {
    const { code, stdout } = await id2vec(
      'analogy',
      model,
      '--positive',
      'north',
      '--negative',
      'east',
      '--top',
      '1',
    );
    expect(code).toBe(0);
    expect(stdout).toContain('▁west');
  });

  it('says what it does not know', async () => {
    expect((await id2vec('nearest', model, 'up')).stderr).toMatch(/"up" is no piece/);
    expect((await id2vec('nearest', model)).code).toBe(2);
    expect((await id2vec('nearest', model, '0', '--metric', 'manhattan')).code).toBe(2);
    expect((await id2vec('analogy', model, '--negative', '0')).code).toBe(2);
  });
});

describe('id2vec info', () => {
  it('prints the profile and the memory bill', async () => {
    const info = await json('info', model);
    expect(info).toMatchObject({
      profile: { family: 'gpt2', positions: 'learned' },
      memoryBill: { parameters: 8 },
    });
    const { stdout } = await id2vec('info', model);
    expect(stdout).toMatch(/profile positions +learned/);
    expect(stdout).toMatch(/as F16 +16 bytes/);
  });
});
