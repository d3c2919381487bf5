// The command factorize on a real table: the error is the one that the singular values promise, and what is written
// loads again and stands for the table.
import { execFile } from 'node:child_process';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EmbeddingModel } from 'id2vec';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { projectPath } from './corpus.js';
import { gguf } from './files/gguf.js';
import { useLiteTable } from './files/use_lite.js';

let folder: string;
let source: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'id2vec-factorize-'));
  source = join(folder, 'use-lite.safetensors');
  await writeFile(source, await useLiteTable());
});
afterAll(() => rm(folder, { recursive: true }));

function id2vec(...words: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [projectPath('dist/cli.js'), ...words], (_, stdout, stderr) => {
      resolve({ code: child.exitCode ?? -1, stdout, stderr });
    });
  });
}

interface Report {
  out: string;
  fileBytes: number;
  rank: number;
  dtype: string;
  parameters: number;
  sourceParameters: number;
  bytes: number;
  relativeError: number;
  optimalError: number;
  top1Agreement: number;
}

async function factorize(name: string, ...options: string[]): Promise<Report> {
  const run = await id2vec('factorize', source, join(folder, name), ...options, '--json');
  expect(run).toMatchObject({ code: 0, stderr: '' });
  return JSON.parse(run.stdout) as Report;
}

describe('id2vec factorize', { timeout: 120_000 }, () => {
  it('reaches the optimal error, and its file stands for the table', async () => {
    const report = await factorize('rank128.safetensors', '--rank', '128');
    expect(report).toMatchObject({
      rank: 128,
      dtype: 'F32',
      sourceParameters: 8002 * 256,
      parameters: 128 * (8002 + 256),
      bytes: 128 * (8002 + 256) * 4,
    });
    expect(report.relativeError / report.optimalError).toBeCloseTo(1, 2);
    expect(report.fileBytes).toBe((await stat(report.out)).size);
    using whole = await EmbeddingModel.load(source);
    using factors = await EmbeddingModel.load(report.out);
    expect(factors).toMatchObject({ vocabSize: 8002, dim: 256, tied: true });
    expect(factors.table).toMatchObject({ vocabSize: 8002, dim: 128 });
    expect(factors.info.profile).toMatchObject({ projectionFirst: true, headThroughProjection: true });
    const ids = Uint32Array.from({ length: 400 }, (_, i) => i * 20);
    const rows = (await whole.embed(ids)).data;
    const stand = await factors.embed(ids);
    expect(stand.dims).toEqual([400, 256]);
    const square = (values: Float32Array) => values.reduce((sum, value) => sum + value * value, 0);
    const error = Math.sqrt(square(rows.map((value, i) => value - stand.data[i]!)) / square(rows));
    expect(error).toBeLessThan(report.relativeError * 1.2);
    const best = (await whole.topK(rows, 1)).indices;
    const same = (await factors.topK(rows, 1)).indices.filter((id, i) => id === best[i]).length;
    expect(same / 400).toBeGreaterThan(0.9 * report.top1Agreement);
    expect((await factors.logits(rows.subarray(0, 256))).dims).toEqual([1, 8002]);
  });

  it('writes A in a format of its own', async () => {
    const report = await factorize('rank64.gguf', '--rank', '64', '--type', 'Q8_0');
    expect(report).toMatchObject({ dtype: 'Q8_0', bytes: 8002 * 2 * 34 + 256 * 64 * 4 });
    using factors = await EmbeddingModel.load(report.out);
    expect(factors).toMatchObject({ dtype: 'Q8_0', dim: 256 });
    const wide = await factorize('rank200.gguf', '--rank', '200');
    expect(wide.relativeError).toBeLessThan(report.relativeError);
  });

  it('keeps a head that is a table of its own', async () => {
    const data = (seed: number) =>
      new Uint8Array(Float32Array.from({ length: 40 * 32 }, (_, i) => Math.sin(i * seed)).buffer);
    const untied = join(folder, 'untied.gguf');
    const tensors = ['token_embd.weight', 'output.weight'].map((name, i) => ({
      name,
      dtype: 'F32' as const,
      shape: [40, 32],
      data: data(i + 1),
    }));
    await writeFile(untied, gguf(tensors));
    const out = join(folder, 'untied-factors.gguf');
    expect((await id2vec('factorize', untied, out, '--rank', '8')).code).toBe(0);
    using whole = await EmbeddingModel.load(untied);
    using factors = await EmbeddingModel.load(out);
    expect(factors.tied).toBe(false);
    const hidden = Float32Array.from({ length: 32 }, (_, i) => Math.cos(i));
    expect(await factors.logits(hidden)).toEqual(await whole.logits(hidden));
    expect((await factors.embed([0])).dims).toEqual([1, 32]);
    const again = await id2vec('factorize', out, join(folder, 'twice.gguf'), '--rank', '4');
    expect(again).toMatchObject({ code: 1 });
    expect(again.stderr).toMatch(/factorized/);
  });

  describe.each(['memory', 'workers', 'remote'] as const)('at full rank, rows in %s', (residency) => {
    const ids = [7, 4000, 7, 8001, 12];
    let whole: EmbeddingModel;
    let factors: EmbeddingModel;
    beforeAll(async () => {
      const { out } = await factorize(`full-${residency}.safetensors`, '--rank', '256');
      whole = await EmbeddingModel.load(source);
      factors = await EmbeddingModel.load(out, { residency, remote: { whole: 'load' } });
    });
    afterAll(() => {
      whole.dispose();
      factors.dispose();
    });

    const close = (actual: Float32Array, expected: Float32Array, digits = 5) => {
      expect(actual.length).toBe(expected.length);
      expected.forEach((value, i) => expect(actual[i], `value ${i}`).toBeCloseTo(value, digits));
    };

    it('looks up and pools the rows of the table', async () => {
      close((await factors.lookup(ids)).data, (await whole.lookup(ids)).data);
      const out = new Float32Array(5 * 256);
      expect((await factors.lookup(ids, { out })).data).toBe(out);
      close(out, (await whole.lookup(ids)).data);
      await expect(factors.lookup([8002])).rejects.toThrow(/8002/);
      await expect(factors.lookup(ids, { out: new Float32Array(5 * 128) })).rejects.toThrow(/1280/);
      for (const options of [
        {},
        { mode: 'max' },
        { mode: 'sum', dimensions: 32, normalize: true },
        { offsets: [0, 2, 2], weights: [1, 2, 0.5, -1, 3] },
      ] as const) {
        const [actual, expected] = [await factors.pool(ids, options), await whole.pool(ids, options)];
        expect(actual.dims).toEqual(expected.dims);
        close(actual.data, expected.data);
      }
      close((await factors.similarity(ids)).data, (await whole.similarity(ids)).data);
    });

    it('finds the neighbours of ids and of vectors', async () => {
      const vector = Float32Array.from({ length: 256 }, (_, i) => Math.sin(i));
      for (const metric of ['cosine', 'dot', 'euclidean'] as const) {
        for (const query of [4000, vector]) {
          const actual = await factors.nearest(query, 5, { metric });
          const expected = await whole.nearest(query, 5, { metric });
          expect(actual.indices).toEqual(expected.indices);
          close(actual.values, expected.values, 4);
        }
      }
      await expect(factors.nearest(new Float32Array(128), 1)).rejects.toThrow(/256/);
    });
  });

  it('finds by the whole vector where the rank is lower', async () => {
    const { out } = await factorize('rank32.safetensors', '--rank', '32');
    using factors = await EmbeddingModel.load(out);
    using expanded = await factors.dequantize();
    expect(expanded).toMatchObject({ dim: 256, dtype: 'F32' });
    const vector = Float32Array.from({ length: 256 }, (_, i) => Math.sin(i));
    for (const metric of ['cosine', 'dot', 'euclidean'] as const) {
      const actual = await factors.nearest(vector, 5, { metric });
      const expected = await expanded.nearest(vector, 5, { metric });
      expect(actual.indices).toEqual(expected.indices);
      expected.values.forEach((value, i) => expect(actual.values[i]).toBeCloseTo(value, 4));
    }
  });

  it('says what is wrong', async () => {
    expect((await id2vec('factorize', source, join(folder, 'x.gguf'))).code).toBe(2);
    expect((await id2vec('factorize', source, join(folder, 'x.bin'), '--rank', '8')).code).toBe(2);
    const rank = await id2vec('factorize', source, join(folder, 'x.gguf'), '--rank', '257');
    expect(rank).toMatchObject({ code: 1 });
    expect(rank.stderr).toMatch(/rank is 257.*256/);
    expect(
      (await id2vec('factorize', source, join(folder, 'x.gguf'), '--rank', '8', '--type', 'IQ1_S')).code,
    ).toBe(1);
  });
});
