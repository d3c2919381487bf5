// Word vectors as people have them, through `id2vec convert`.
import { EmbeddingModel } from 'id2vec';
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { corpusFile, corpusPath, hasCorpus, projectPath } from './corpus.js';
import { ByteWriter } from './files/bytes.js';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'id2vec-convert-'));
});
afterAll(() => rm(folder, { recursive: true }));

function convert(...words: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    const command = [projectPath('dist/cli.js'), 'convert', ...words, '--json'];
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
