// Files that mean harm, through the package and through the command line: one sentence each, no crash, no hang, and no
// memory that their size does not justify.
import { EmbeddingError, EmbeddingModel } from 'id2vec';
import type { ByteSource } from 'id2vec';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { projectPath } from './corpus.js';
import { safetensors } from './files/safetensors.js';
import { hostileFiles } from './hostile/files.js';
import type { Hostile } from './hostile/files.js';

function sourceOf({ root, files }: Hostile): ByteSource {
  const open = (name: string): ByteSource | undefined => {
    const bytes = files[name];
    if (bytes === undefined) return undefined;
    return { byteLength: bytes.length, slice: (from, to) => bytes.slice(from, to), name, sibling: open };
  };
  return open(root)!;
}

function run(...words: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [projectPath('dist/cli.js'), ...words],
      { timeout: 60_000 },
      (_, stdout, stderr) => resolve({ code: child.exitCode ?? -1, stdout, stderr }),
    );
  });
}

describe('the package', () => {
  it.each(hostileFiles)('$name', async (hostile) => {
    const failure = await EmbeddingModel.load(sourceOf(hostile)).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(EmbeddingError);
    const { code, message } = failure as EmbeddingError;
    expect(['truncated', 'malformed', 'unsupported', 'limit', 'not-found']).toContain(code);
    expect(message).toMatch(hostile.says);
    expect(message).not.toMatch(/[\n\r\0]/);
    expect(message.length).toBeLessThan(500);
  });

  it('takes no memory for what they claim', { timeout: 60_000 }, async () => {
    const script = projectPath('tests/js/hostile/peak.mjs');
    const folder = await mkdtemp(join(tmpdir(), 'id2vec-peak-'));
    try {
      const roots = [];
      for (const [i, { root, files }] of hostileFiles.entries()) {
        // A folder would do, but every root needs its own siblings.
        roots.push({ root, files: Object.entries(files).map(([name, bytes]) => [name, [...bytes]]), i });
      }
      const list = join(folder, 'files.json');
      await writeFile(list, JSON.stringify(roots));
      const kilobytes = await new Promise<string>((resolve, reject) => {
        execFile(process.execPath, [script, list], (error, stdout) =>
          error ? reject(error) : resolve(stdout),
        );
      });
      // They claim 4 GB and more; what a load of any file takes is some ten megabytes of code and garbage.
      expect(Number(kilobytes)).toBeLessThan(96 * 1024);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

describe('the command line', () => {
  it('answers each with one line', { timeout: 180_000 }, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'id2vec-hostile-'));
    try {
      for (const { name, root, files, says } of hostileFiles) {
        const own = await mkdtemp(join(folder, 'file-'));
        for (const [file, bytes] of Object.entries(files)) await writeFile(join(own, file), bytes);
        const { code, stdout, stderr } = await run('lookup', join(own, root), '0', '--json');
        expect({ name, code, stdout }).toEqual({ name, code: 1, stdout: '' });
        expect(stderr).toMatch(/^id2vec: [^\n]+\n$/);
        expect(stderr, name).toMatch(says);
      }
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

describe('a vocabulary beside the model', () => {
  const model = safetensors([{ name: 'wte.weight', dtype: 'F32', shape: [2, 2], data: new Uint8Array(16) }]);

  it.each([
    ['no JSON', '<html>\n<body>', /tokenizer\.json is no JSON/],
    ['null', 'null', /not laid out as a tokenizer's/],
    ['a list of nulls', '{"model":{"type":"Unigram","vocab":[null]}}', /not laid out as a tokenizer's/],
    ['tokens that are no list', '{"model":{"vocab":{"a":0}},"added_tokens":7}', /not laid out/],
    [
      'an id of 16 million',
      '{"model":{"vocab":{"a":16000000}}}',
      /gives the piece "a" the id 16000000, of 1 pieces/,
    ],
    ['an id that is text', '{"model":{"vocab":{"a":"b"}}}', /the id "b"/],
    ['a negative id', '{"model":{"vocab":{"a":-1}}}', /the id -1/],
    ['a piece that is a number', '{"model":{"type":"Unigram","vocab":[[5,0]]}}', /gives the piece 5/],
  ])('%s', async (_, tokenizer, says) => {
    const folder = await mkdtemp(join(tmpdir(), 'id2vec-vocabulary-'));
    try {
      await writeFile(join(folder, 'model.safetensors'), model);
      await writeFile(join(folder, 'tokenizer.json'), tokenizer);
      const { code, stderr } = await run(
        'convert',
        join(folder, 'model.safetensors'),
        join(folder, 'out.gguf'),
      );
      expect(code).toBe(1);
      expect(stderr).toMatch(/^id2vec: [^\n]+\n$/);
      expect(stderr).toMatch(says);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

// Weights that are no numbers are weights all the same: they come back as they are and win nothing.
describe('NaN and infinity as scales', () => {
  const d = 32;
  const row = (scale: number[], q: number) => [...scale, ...Array.from({ length: d }, () => q)];
  const nan = [0x00, 0x7e];
  const infinite = [0x00, 0x7c];
  const one = [0x00, 0x3c];
  const bytes = Uint8Array.from([...row(nan, 1), ...row(one, 1), ...row(infinite, 255), ...row(one, 2)]);

  it.each(['scalar', 'simd128'] as const)('%s', async (isa) => {
    const { gguf } = await import('./files/gguf.js');
    const file = gguf([{ name: 'token_embd.weight', dtype: 'Q8_0', shape: [4, d], data: bytes }]);
    using model = await EmbeddingModel.load(file, { isa });
    const { data } = await model.lookup([0, 1, 2, 3]);
    expect([data[0], data[d], data[2 * d], data[3 * d]]).toEqual([NaN, 1, -Infinity, 2]);
    const hidden = new Float32Array(d).fill(1);
    const { indices } = await model.topK(hidden, 3);
    expect([...indices]).toEqual([3, 1, -1]);
    expect([...(await model.nearest(1, 1)).indices]).toEqual([3]);
    expect((await model.pool([0, 1])).data[0]).toBeNaN();
  });
});
