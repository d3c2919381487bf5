// What a load costs beside the table, and what is left of one that was stopped.
import { execFile } from 'node:child_process';
import { openAsBlob } from 'node:fs';
import { mkdtemp, open, rm, truncate, writeFile } from 'node:fs/promises';
import { freemem, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { EmbeddingModel } from 'id2vec';
import type { ByteSource } from 'id2vec';
import { describe, expect, it } from 'vitest';
import { projectPath } from './corpus.js';
import { gguf } from './files/gguf.js';

const dim = 512;
const mebibyte = 1 << 20;

/** Everything of a GGUF file with an F16 table of `bytes` bytes, but for the table's bytes. */
function headerOf(bytes: number): Uint8Array {
  const shape = [bytes / (2 * dim), dim];
  return gguf([{ name: 'token_embd.weight', dtype: 'F16', shape, data: new Uint8Array() }]);
}

/** A GGUF file with an F16 table of `bytes` bytes, all zeros but for its header, made while it is read. */
function zerosOf(bytes: number): ByteSource {
  const header = headerOf(bytes);
  return {
    byteLength: header.length + bytes,
    slice(start, end) {
      const piece = new Uint8Array(end - start);
      if (start < header.length) piece.set(header.subarray(start, Math.min(end, header.length)));
      return piece;
    },
  };
}

describe('memory', () => {
  it.each([1, 16, 100])('of a load of %i MB is the table and less than 10 MB', async (size) => {
    const bytes = size * mebibyte;
    using model = await EmbeddingModel.load(zerosOf(bytes));
    expect(model.info.memory.embedding).toBe(bytes);
    expect(model.info.memory.heap).toBeLessThan(bytes + 10 * mebibyte);
    expect((await model.lookup([model.vocabSize - 1])).data).toEqual(new Float32Array(dim));
  });

  it.each(['memory', 'workers'])(
    'is given back by loads that were stopped, and by models that were disposed of: %s',
    async (residency) => {
      const folder = await mkdtemp(join(tmpdir(), 'id2vec-memory-'));
      const [size, times] = [64 * mebibyte, 8];
      try {
        await writeFile(join(folder, 'header.gguf'), headerOf(size));
        const script = projectPath('tests/js/memory/stopped_loads.mjs');
        const words = [script, join(folder, 'header.gguf'), String(size), String(times), residency];
        const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', ...words]);
        // Kept, they would be 8 · (32 + 64) MB and more.
        expect(Number(stdout)).toBeLessThan(3 * size);
      } finally {
        await rm(folder, { recursive: true });
      }
    },
  );

  it.each(['memory', 'workers'] as const)(
    'of a Blob’s bytes on their way is a few megabytes: %s',
    async (residency) => {
      const folder = await mkdtemp(join(tmpdir(), 'id2vec-blob-'));
      const path = join(folder, 'zeros.gguf');
      const bytes = 128 * mebibyte;
      try {
        const header = headerOf(bytes);
        await writeFile(path, header);
        await truncate(path, header.length + bytes);
        const before = process.memoryUsage().arrayBuffers;
        let most = 0;
        const onProgress = () => (most = Math.max(most, process.memoryUsage().arrayBuffers));
        const source = await openAsBlob(path);
        using model = await EmbeddingModel.load(source, { onProgress, residency, workers: 2 });
        expect(most - before).toBeLessThan(10 * mebibyte);
        expect((await model.lookup([model.vocabSize - 1])).data).toEqual(new Float32Array(dim));
      } finally {
        await rm(folder, { recursive: true });
      }
    },
    60_000,
  );

  it('of a model whose rows are elsewhere does not grow with the table', async () => {
    using model = await EmbeddingModel.load(zerosOf(2 ** 36), { residency: 'remote' });
    expect(model.vocabSize).toBe(2 ** 36 / (2 * dim));
    for (let id = 0; id < model.vocabSize; id += 2 ** 20) {
      expect((await model.lookup([id])).data).toEqual(new Float32Array(dim));
    }
    expect(model.info.memory.heap).toBeLessThan(10 * mebibyte);
  });

  // 4.5 GB are in memory while it runs.
  it.skipIf(freemem() < 7e9)(
    'of one table may pass 4 GB, over several workers',
    async () => {
      const folder = await mkdtemp(join(tmpdir(), 'id2vec-large-'));
      const [rows, bytes] = [4_400_000, 4_400_000 * 2 * dim];
      try {
        const path = join(folder, 'large.gguf');
        const header = headerOf(bytes);
        const file = await open(path, 'w');
        await file.write(header);
        await file.truncate(header.length + bytes); // zeros that take no room on disk
        const ids = [0, 1_466_666, 1_466_667, 4_194_303, 4_194_304, rows - 1];
        // Row r begins with 1 + r's place in the list.
        const halves = [0x3c00, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600];
        for (const [i, id] of ids.entries()) {
          await file.write(Uint16Array.of(halves[i]!), 0, 2, header.length + id * 2 * dim);
        }
        await file.close();
        await using model = await EmbeddingModel.load(path, { residency: 'workers', workers: 3 });
        expect(model.info.memory.embedding).toBe(bytes);
        expect(model.info.memory.heap).toBeLessThan(bytes + 40 * mebibyte);
        const { data } = await model.lookup(ids);
        expect(ids.map((_, i) => data[i * dim])).toEqual([1, 2, 3, 4, 5, 6]);
        const best = await model.topK(new Float32Array(dim).fill(1), 3);
        expect(Array.from(best.indices)).toEqual([rows - 1, 4_194_304, 4_194_303]);
      } finally {
        await rm(folder, { recursive: true });
      }
    },
    120_000,
  );
});
