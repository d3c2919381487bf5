// The command line, run as a process: what it prints where, and its exit codes.
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { projectPath } from './corpus.js';
import { decodeRow, randomTable } from './files/formats.js';
import { gguf } from './files/gguf.js';
import { dot, dotBound, ranking } from './files/reference.js';

const [v, d] = [40, 32];
const pieces = Array.from({ length: v }, (_, id) => `piece${id}`);
const table = randomTable('Q8_0', v, d, 1);
const rows = Array.from({ length: v }, (_, id) => decodeRow('Q8_0', table, d, id));
const metadata = { 'general.architecture': 'llama', 'tokenizer.ggml.tokens': pieces };

let folder: string;
let model: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'id2vec-cli-'));
  model = join(folder, 'model.gguf');
  await writeFile(
    model,
    gguf([{ name: 'token_embd.weight', dtype: 'Q8_0', shape: [v, d], data: table }], metadata),
  );
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

async function json(...words: string[]): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await id2vec(...words, '--json');
  expect(stderr).toBe('');
  expect(code).toBe(0);
  expect(stdout.trimEnd()).not.toContain('\n');
  return JSON.parse(stdout) as Record<string, unknown>;
}

describe('id2vec lookup', () => {
  it('prints dims and data as JSON', async () => {
    expect(await json('lookup', model, '3', '1', '3')).toEqual({
      dims: [3, d],
      data: [3, 1, 3].flatMap((id) => rows[id]),
    });
  });

  it('prints ids, pieces and first values for people', async () => {
    const { stdout, stderr, code } = await id2vec('lookup', model, '7,8');
    expect({ stderr, code }).toEqual({ stderr: '', code: 0 });
    expect(stdout).toMatch(/^\[2, 32\]\n7 {2}"piece7" .*…\n8 {2}"piece8" .*…\n$/);
    expect(stdout).toContain(rows[7]![0]!.toFixed(4));
  });

  it('writes npy, which numpy reads by its header', async () => {
    const out = join(folder, 'x.npy');
    await id2vec('lookup', model, '2', '5', '--out', out);
    const bytes = await readFile(out);
    expect(bytes.toString('latin1', 0, 8)).toBe('\x93NUMPY\x01\x00');
    const header = bytes.readUInt16LE(8);
    expect((10 + header) % 64).toBe(0);
    expect(bytes.toString('latin1', 10, 10 + header)).toMatch(
      /^\{'descr': '<f4', 'fortran_order': False, 'shape': \(2, 32\), \} *\n$/,
    );
    const values = Array.from({ length: 2 * d }, (_, i) => bytes.readFloatLE(10 + header + 4 * i));
    expect(values).toEqual([...rows[2]!, ...rows[5]!]);
    expect(bytes).toHaveLength(10 + header + 2 * d * 4);
  });
});

describe('id2vec logits', () => {
  it('prints the best k of each vector as JSON', async () => {
    const result = await json('logits', model, '--ids', '4', '9', '--top', '3');
    expect(result.dims).toEqual([2, 3]);
    const best = [4, 9].map((id) => ranking(rows.map((row) => dot(row, rows[id]!))).slice(0, 3));
    expect(result.indices).toEqual(best);
    (result.values as number[][]).forEach((values, n) => {
      values.forEach((value, i) => {
        const [row, hidden] = [rows[best[n]![i]!]!, rows[[4, 9][n]!]!];
        expect(Math.abs(value - dot(row, hidden))).toBeLessThan(dotBound(row, hidden));
      });
    });
  });

  it('takes hidden vectors from npy, and writes all scores', async () => {
    const [hidden, out] = [join(folder, 'h.npy'), join(folder, 'y.npy')];
    await id2vec('lookup', model, '4', '9', '--out', hidden);
    const fromFile = await json('logits', model, '--hidden', hidden, '--out', out);
    expect(fromFile).toEqual(await json('logits', '--ids', '4', '9', '--top', '10', model));
    expect((await readFile(out)).toString('latin1', 10, 90)).toContain("'shape': (2, 40)");
  });
});

describe('id2vec info', () => {
  it('has the keys of the contract', async () => {
    const result = await json('info', model);
    expect(result).toMatchObject({
      container: 'GGUF',
      architecture: 'llama',
      vocabSize: v,
      dim: d,
      dtype: 'Q8_0',
      tied: true,
      roles: { embedding: 'token_embd.weight', head: 'token_embd.weight' },
      profile: { embeddingScale: 1 },
      parameters: v * d,
      bytes: table.length,
    });
    expect(result.tensors).toEqual([
      {
        name: 'token_embd.weight',
        dtype: 'Q8_0',
        shape: [v, d],
        file: 'model.gguf',
        offset: expect.any(Number) as number,
        bytes: table.length,
      },
    ]);
  });

  it('lists the tensors of a file without a table', async () => {
    const path = join(folder, 'odd.gguf');
    const tensor = (name: string, rows: number) => ({
      name,
      dtype: 'F32' as const,
      shape: [rows, 2],
      data: new Uint8Array(rows * 8),
    });
    await writeFile(path, gguf([tensor('odd', 2), tensor('even', 3)]));
    const result = await json('info', path);
    expect(result.tensors).toMatchObject([
      { name: 'odd', shape: [2, 2] },
      { name: 'even', shape: [3, 2] },
    ]);
    expect((result.warnings as string[]).join()).toMatch(/embedding/);
    expect(await json('info', path, '--tensor', 'odd')).toMatchObject({ vocabSize: 2, dim: 2 });
  });
});

describe('id2vec bench', () => {
  it('times lookup and logits beside reading and copying', async () => {
    const { results, ...what } = await json('bench', model, '--rounds', '3');
    expect(what).toMatchObject({ vocabSize: v, dim: d, dtype: 'Q8_0', bytes: table.length, rounds: 3 });
    const names = (results as { name: string }[]).map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining(['read', 'copy', 'logits, high, N = 1', 'lookup, N = 4096']),
    );
    for (const result of results as { milliseconds: number; gigabytesPerSecond: number }[]) {
      expect(result.milliseconds).toBeGreaterThan(0);
      expect(result.gigabytesPerSecond).toBeGreaterThan(0);
    }
  });
});

describe('failures', () => {
  it.each([
    [['lookup', 'MODEL', '-1'], /id -1 at position 0/],
    [['lookup', 'MODEL', '40'], /id 40 at position 0 .*40 rows/],
    [['lookup', 'MODEL', '1.5'], /1\.5/],
    [['lookup', 'no-such-file.gguf', '1'], /no-such-file\.gguf/],
    [['lookup', 'MODEL', '1', '--out', '/no/such/folder/x.npy'], /no such file/],
    [['logits', 'MODEL', '--hidden', 'MODEL'], /npy/],
  ])('%j: one line on stderr, exit code 1', async (words, message) => {
    const { code, stdout, stderr } = await id2vec(...words.map((word) => word.replace('MODEL', model)));
    expect(code).toBe(1);
    expect(stdout).toBe('');
    expect(stderr).toMatch(/^id2vec: [^\n]+\n$/);
    expect(stderr).toMatch(message);
  });

  it.each([
    [[], /no command/],
    [['frob'], /no command "frob"/],
    [['lookup'], /SOURCE is missing/],
    [['lookup', 'MODEL'], /no id/],
    [['lookup', 'MODEL', 'abc'], /"abc" is not an id/],
    [['lookup', 'MODEL', '1', '--frob'], /--frob/],
    [['logits', 'MODEL'], /either --ids or --hidden/],
    [['logits', 'MODEL', '--ids', '1', '--top', '0'], /--top 0/],
    [['logits', 'MODEL', '--ids', '1', '--precision', 'low'], /low/],
    [['info', 'MODEL', 'more'], /one argument too many/],
  ])('%j: wrong usage, exit code 2', async (words, message) => {
    const { code, stdout, stderr } = await id2vec(...words.map((word) => word.replace('MODEL', model)));
    expect(code).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).toMatch(/^id2vec: [^\n]+\n$/);
    expect(stderr).toMatch(message);
  });
});

describe('help', () => {
  it('names every command', async () => {
    const { code, stdout } = await id2vec('--help');
    expect(code).toBe(0);
    for (const name of ['info', 'lookup', 'logits']) expect(stdout).toContain(`id2vec ${name} `);
    expect((await id2vec('lookup', '--help')).stdout).toMatch(/--out FILE/);
    expect((await id2vec('--version')).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});
