// Word vectors as people have them, through `id2vec convert`.
import { EmbeddingModel, openDirectory } from 'id2vec';
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { corpusFile, corpusPath, hasCorpus, projectPath } from './corpus.js';
import { ByteWriter } from './files/bytes.js';
import { safetensors } from './files/safetensors.js';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'id2vec-convert-'));
});
afterAll(() => rm(folder, { recursive: true }));

const convert = (...words: string[]) => run('convert', ...words);

function run(...words: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    const command = [projectPath('dist/cli.js'), ...words, '--json'];
    const child = execFile(process.execPath, command, (_, stdout, stderr) => {
      resolve({ code: child.exitCode ?? -1, stdout, stderr });
    });
  });
}

async function file(name: string, content: string | Uint8Array): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, content);
  return path;
}

const vectors = new Map([
  ['the', [0.25, -1, 2e-3]],
  ['constructor', [1, 2, 3]],
  ['déjà', [-0.418, 16777217, 1e-40]],
]);
const lines = [...vectors].map(([word, values]) => `${word} ${values.join(' ')}\n`).join('');

function binary(): Uint8Array {
  const out = new ByteWriter().bytes(Buffer.from('3 3\n'));
  for (const [word, values] of vectors) {
    out.bytes(Buffer.from(`${word} `));
    values.forEach((value) => out.f32(value));
    out.bytes(Buffer.from('\n'));
  }
  return out.finish();
}

describe('id2vec convert', () => {
  it.each([
    ['glove.txt', lines],
    ['fasttext.vec', `3 3\n${lines}`],
    ['word2vec.bin', binary()],
    ['glove.txt.gz', gzipSync(lines)],
  ])('reads %s', async (name, content) => {
    const from = await file(name, content);
    const to = join(folder, `${name}.gguf`);
    const { code, stdout, stderr } = await convert(from, to);
    expect(stderr).toBe('');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ out: to, dims: [3, 3], skipped: 0 });
    using model = await EmbeddingModel.load(to);
    expect([model.vocabSize, model.dim, model.dtype]).toEqual([3, 3, 'F32']);
    for (const [word, values] of vectors) {
      const { data } = await model.lookup([model.tokens!.idOf(word)!]);
      expect(data).toEqual(Float32Array.from(values));
    }
  });

  it.each([
    ['a 1 2\nb 3\n', 'line 2: fewer than 2 numbers'],
    ['2 2\na 1 2\n', 'promises 2 rows, but there are 1'],
    ['neither one nor the other', 'no model file that id2vec knows'],
    ['', 'the file is empty'],
  ])('refuses %j', async (content, sentence) => {
    const from = await file('broken.txt', content);
    const { code, stdout, stderr } = await convert(from, join(folder, 'broken.gguf'));
    expect(code).toBe(1);
    expect(stdout).toBe('');
    expect(stderr).toContain(sentence);
    expect((await readdir(folder)).filter((name) => /^broken.*(gguf|partial)/.test(name))).toEqual([]);
  });

  it('writes nothing but GGUF, which keeps the words', async () => {
    const { code, stderr } = await convert(await file('words.txt', lines), join(folder, 'words.safetensors'));
    expect(code).toBe(1);
    expect(stderr).toContain('name it .gguf');
  });

  it('writes them in another format where one is asked for', async () => {
    const to = join(folder, 'words.f16.gguf');
    expect((await convert(await file('words.txt', lines), to, '--type', 'F16')).code).toBe(0);
    using model = await EmbeddingModel.load(to);
    expect(model.dtype).toBe('F16');
    expect((await model.lookup([model.tokens!.idOf('constructor')!])).data).toEqual(Float32Array.of(1, 2, 3));
  });

  it.skipIf(!hasCorpus)('reads real GloVe vectors', async () => {
    const name = 'json/allennlp-glove.6B.100d.sample.txt.gz';
    const to = join(folder, 'glove.gguf');
    expect((await convert(corpusPath(name), to)).code).toBe(0);
    using model = await EmbeddingModel.load(to);
    const text = gunzipSync(await corpusFile(name)).toString();
    for (const [id, line] of text.trimEnd().split('\n').entries()) {
      const [word, ...numbers] = line.split(' ');
      expect(model.tokens!.at(id)).toBe(word);
      expect((await model.lookup([id])).data).toEqual(Float32Array.from(numbers, Number));
    }
  });
});

describe('another number of rows', () => {
  const rows = Float32Array.of(1, -2, 3, 5, 0.5, 6);
  let source: string;
  beforeAll(async () => {
    const data = new Uint8Array(rows.buffer);
    source = await file(
      'rows.safetensors',
      safetensors([{ name: 'wte.weight', dtype: 'F32', shape: [3, 2], data }]),
    );
  });

  it.each([
    [
      ['--rows', '2'],
      [1, -2, 3, 5],
    ],
    [
      ['--rows', '4'],
      [1, -2, 3, 5, 0.5, 6, 0, 0],
    ],
    [
      ['--pad-to', '4', '--new-rows', 'mean'],
      [1, -2, 3, 5, 0.5, 6, 1.5, 3],
    ],
    [
      ['--rows', '2', '--pad-to', '3'], // 3 rows after all
      [1, -2, 3, 5, 0.5, 6],
    ],
  ])('%j', async (words, expected) => {
    const to = join(folder, 'rows.gguf');
    expect(await convert(source, to, ...words)).toMatchObject({ code: 0, stderr: '' });
    using model = await EmbeddingModel.load(to);
    expect((await model.lookup(Array.from({ length: model.vocabSize }, (_, id) => id))).data).toEqual(
      Float32Array.from(expected),
    );
  });

  it.each([[['--rows', '0']], [['--rows', 'many']], [['--new-rows', 'ones', '--rows', '4']]])(
    'refuses %j and writes nothing',
    async (words) => {
      const to = join(folder, 'refused.gguf');
      const { code, stdout, stderr } = await convert(source, to, ...words);
      expect([code, stdout]).toEqual([2, '']);
      expect(stderr).toContain('rows');
      expect(await readdir(folder)).not.toContain('refused.gguf');
    },
  );
});

// Static embeddings of model2vec: several ids may share a row, and each id has a weight of its own.
describe('a model with a mapping of ids to rows', () => {
  const rows = Float32Array.from({ length: 3 * 4 }, (_, i) => Math.sin(i + 1));
  const mapping = Int32Array.of(2, 0, 1, 1, 2, 0);
  const weights = Float64Array.of(1, 0.5, 0.25, 2, 3, 0.1);
  const bytesOf = (array: { buffer: ArrayBuffer }) => new Uint8Array(array.buffer);
  const bags = [
    [0, 1, 2],
    [3, 4, 5],
    [5, 5, 1],
  ];
  let source: string;
  beforeAll(async () => {
    source = await file(
      'static.safetensors',
      safetensors([
        { name: 'embeddings', dtype: 'F32', shape: [3, 4], data: bytesOf(rows) },
        { name: 'mapping', dtype: 'I32', shape: [6], data: bytesOf(mapping) },
        { name: 'weights', dtype: 'F64', shape: [6], data: bytesOf(weights) },
      ]),
    );
  });

  async function pooled(path: string): Promise<Float32Array> {
    using model = await EmbeddingModel.load(path);
    expect(model.info.roles).toMatchObject({
      embedding: 'embeddings',
      mapping: 'mapping',
      weights: 'weights',
    });
    return (await model.pool(bags)).data;
  }

  it.each(['static.copy.safetensors', 'static.gguf'])('keeps it: %s', async (name) => {
    const to = join(folder, name);
    expect(await convert(source, to)).toMatchObject({ code: 0, stderr: '' });
    const expected = Float32Array.from({ length: 12 }, (_, i) => {
      const bag = bags[Math.floor(i / 4)]!;
      const terms = bag.map((id) => weights[id]! * rows[mapping[id]! * 4 + (i % 4)]!);
      return terms.reduce((sum, term) => sum + term, 0) / bag.length;
    });
    const actual = await pooled(to);
    expect(actual).toEqual(await pooled(source));
    actual.forEach((value, i) => expect(value).toBeCloseTo(expected[i]!, 5));
    const { tensors } = await openDirectory(to);
    expect(tensors.find(({ name }) => name === 'mapping')).toMatchObject({ dtype: 'I32', shape: [6] });
  });

  it('keeps it beside rows in another format, and beside factors', async () => {
    const half = join(folder, 'static.f16.safetensors');
    expect(await convert(source, half, '--type', 'F16')).toMatchObject({ code: 0, stderr: '' });
    const factors = join(folder, 'static.factors.gguf');
    expect(await run('factorize', source, factors, '--rank', '4')).toMatchObject({ code: 0, stderr: '' });
    const expected = await pooled(source);
    (await pooled(half)).forEach((value, i) => expect(value).toBeCloseTo(expected[i]!, 3));
    using model = await EmbeddingModel.load(factors);
    expect(model.info.roles).toMatchObject({ mapping: 'mapping', weights: 'weights' });
    const { tensors } = await openDirectory(factors);
    const { offset, bytes } = tensors.find(({ name }) => name === 'mapping')!;
    const stored = (await readFile(factors)).subarray(offset, offset + bytes);
    expect(new Int32Array(Uint8Array.from(stored).buffer)).toEqual(mapping);
  });

  it('says where a container has no such integers', async () => {
    const unsigned = await file(
      'unsigned.safetensors',
      safetensors([
        { name: 'embeddings', dtype: 'F32', shape: [3, 4], data: bytesOf(rows) },
        { name: 'mapping', dtype: 'U32', shape: [6], data: bytesOf(Uint32Array.from(mapping)) },
      ]),
    );
    const { code, stderr } = await convert(unsigned, join(folder, 'unsigned.gguf'));
    expect(code).toBe(1);
    expect(stderr).toContain("The dtype U32 of 'mapping' has no number in GGUF; write safetensors");
    expect(await convert(unsigned, join(folder, 'unsigned.copy.safetensors'))).toMatchObject({ code: 0 });
  });
});
