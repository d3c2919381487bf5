// `id2vec quantize`, run as a process: what it writes is opened again and compared.
import { execFile } from 'node:child_process';
import { access, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EmbeddingModel } from 'id2vec';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { corpusPath, hasCorpus, projectPath } from './corpus.js';
import { gguf } from './files/gguf.js';

const [v, d] = [12, 256];
const ids = Array.from({ length: v }, (_, id) => id);
const pieces = ids.map((id) => `piece${id}`);
const weights = Float32Array.from({ length: v * d }, (_, i) => Math.sin(i * i) / (1 + (i % 7)));

let folder: string;
let model: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'id2vec-quantize-'));
  model = join(folder, 'model.gguf');
  const data = new Uint8Array(weights.buffer);
  const metadata = { 'general.architecture': 'llama', 'tokenizer.ggml.tokens': pieces };
  await writeFile(model, gguf([{ name: 'token_embd.weight', dtype: 'F32', shape: [v, d], data }], metadata));
});
afterAll(() => rm(folder, { recursive: true }));

interface Run {
  code: number;
  stdout: string;
  stderr: string;
}

function quantize(...words: string[]): Promise<Run> {
  return new Promise((resolve) => {
    const all = [projectPath('dist/cli.js'), 'quantize', ...words];
    const child = execFile(process.execPath, all, (_, stdout, stderr) => {
      resolve({ code: child.exitCode ?? -1, stdout, stderr });
    });
  });
}

interface Result {
  out: string;
  bytes: number;
  tables: Record<string, number | string>[];
}

async function json(...words: string[]): Promise<Result> {
  const { code, stdout, stderr } = await quantize(...words, '--json');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout) as Result;
}

async function allRows(path: string) {
  const opened = await EmbeddingModel.load(path);
  const { data } = await opened.lookup(Array.from({ length: opened.vocabSize }, (_, id) => id));
  const { dtype, tied, tokens } = opened;
  const texts = tokens && Array.from({ length: tokens.length }, (_, id) => tokens.at(id));
  opened.dispose();
  return { data, dtype, tied, texts };
}

function relativeError(actual: Float32Array, expected: Float32Array): number {
  let [difference, total] = [0, 0];
  expected.forEach((value, i) => {
    difference += (actual[i]! - value) ** 2;
    total += value ** 2;
  });
  return Math.sqrt(difference / total);
}

describe('id2vec quantize', () => {
  it.each(['F16', 'Q8_0', 'Q4_K', 'IQ4_NL', 'I8'])('%s: the report is true of the file', async (type) => {
    const out = join(folder, `${type}.gguf`);
    const result = await json(model, out, '--type', type);
    const [table] = result.tables;
    const rows = await allRows(out);
    expect(rows.dtype).toBe(type === 'I8' ? 'AFFINE_8' : type);
    expect(rows.texts).toEqual(pieces);
    expect(rows.tied).toBe(true);
    expect(table).toMatchObject({
      tensor: 'token_embd.weight',
      from: 'F32',
      sourceBytes: v * d * 4,
    });
    expect(table!.relativeError).toBeCloseTo(relativeError(rows.data, weights), 9);
    expect(table!.relativeError).toBeGreaterThan(0);
    expect(table!.relativeError).toBeLessThan(0.15);
    expect(table!.bytes).toBeLessThan(v * d * 2 + 1);
  });

  it('I8 to safetensors', async () => {
    const out = join(folder, 'rows.safetensors');
    const { tables } = await json(model, out, '--type', 'I8');
    const rows = await allRows(out);
    expect(tables[0]!.relativeError).toBeCloseTo(relativeError(rows.data, weights), 9);
  });

  it('may overwrite its input', async () => {
    const both = join(folder, 'both.gguf');
    await json(model, both, '--type', 'F32');
    await json(both, both, '--type', 'F16');
    expect((await allRows(both)).dtype).toBe('F16');
  });

  it('prints a table for people', async () => {
    const { stdout, code } = await quantize(model, join(folder, 'people.gguf'), '--type', 'Q8_0');
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /people\.gguf: .* KB, 12 rows\ntoken_embd\.weight +F32 → Q8_0\n +bytes .*\n +relative error/,
    );
  });

  it.each([
    [['MODEL', 'OUT.gguf', '--type', 'Q9_9'], 1, /no encoder for .*"Q9_9"/],
    [['MODEL', 'OUT.safetensors', '--type', 'Q8_0'], 1, /Q8_0 .*safetensors/],
    [['MODEL', 'OUT.bin', '--type', 'Q8_0'], 2, /should end in \.gguf or \.safetensors/],
    [['MODEL', 'OUT.gguf'], 2, /--type is missing/],
    [['MODEL', '--type', 'Q8_0'], 2, /two files/],
    [['MODEL', 'OUT.gguf', 'more', '--type', 'Q8_0'], 2, /two files/],
  ])('%j fails, and leaves no file', async (words, expectedCode, message) => {
    const place = (word: string) => word.replace('MODEL', model).replace('OUT', join(folder, 'failed'));
    const { code, stdout, stderr } = await quantize(...words.map(place));
    expect({ code, stdout }).toEqual({ code: expectedCode, stdout: '' });
    expect(stderr).toMatch(/^id2vec: [^\n]+\n$/);
    expect(stderr).toMatch(message);
    for (const name of words.filter((word) => word.startsWith('OUT'))) {
      await expect(access(place(name))).rejects.toThrow();
      await expect(access(`${place(name)}.partial`)).rejects.toThrow();
    }
  });
});

describe.skipIf(!hasCorpus)('a real model', () => {
  it.each(['F16', 'Q8_0', 'Q4_0', 'Q5_1'])(
    '%s: the rows are those that llama.cpp quantized',
    async (type) => {
      const out = join(folder, `stories.${type}.gguf`);
      const { tables } = await json(corpusPath('gguf/stories260K.gguf'), out, '--type', type);
      expect(tables).toHaveLength(1); // its head has the same bytes
      const [own, theirs] = await Promise.all([
        allRows(out),
        allRows(corpusPath(`gguf/stories260K.${type}.gguf`)),
      ]);
      expect(own.dtype).toBe(type);
      expect(own.data).toEqual(theirs.data);
      expect(own.texts).toEqual(theirs.texts);
    },
  );
});
