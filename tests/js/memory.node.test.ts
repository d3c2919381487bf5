// What a load costs beside the table, and what is left of one that was stopped.
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
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

  it('is given back by loads that were stopped, and by models that were disposed of', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'id2vec-memory-'));
    const [size, times] = [64 * mebibyte, 8];
    try {
      await writeFile(join(folder, 'header.gguf'), headerOf(size));
      const script = projectPath('tests/js/memory/stopped_loads.mjs');
      const words = ['--expose-gc', script, join(folder, 'header.gguf'), String(size), String(times)];
      const { stdout } = await promisify(execFile)(process.execPath, words);
      // Kept, they would be 8 · (32 + 64) MB and more.
      expect(Number(stdout)).toBeLessThan(3 * size);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
