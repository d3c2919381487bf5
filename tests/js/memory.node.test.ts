// What a load costs beside the table, and what is left of one that was stopped.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { EmbeddingModel } from 'id2vec';
import type { ByteSource } from 'id2vec';
import { describe, expect, it } from 'vitest';
import { gguf } from './files/gguf.js';

const dim = 512;
const mebibyte = 1 << 20;

/** A GGUF file with an F16 table of `bytes` bytes, all zeros but for its header, made while it is read. */
function zerosOf(bytes: number): ByteSource {
  const rows = bytes / (2 * dim);
  const shape = [rows, dim];
  const header = gguf([{ name: 'token_embd.weight', dtype: 'F16', shape, data: new Uint8Array() }]);
  return {
    byteLength: header.length + bytes,
    slice(start, end) {
      const piece = new Uint8Array(end - start);
      if (start < header.length) piece.set(header.subarray(start, Math.min(end, header.length)));
      return piece;
    },
  };
}

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

describe('memory', () => {
  it.each([1, 16, 100])('of a load of %i MB is the table and less than 10 MB', async (size) => {
    const bytes = size * mebibyte;
    using model = await EmbeddingModel.load(zerosOf(bytes));
    expect(model.info.memory.embedding).toBe(bytes);
    expect(model.info.memory.heap).toBeLessThan(bytes + 10 * mebibyte);
    expect((await model.lookup([model.vocabSize - 1])).data).toEqual(new Float32Array(dim));
  });

  it('is given back by loads that were stopped, and by models that were disposed of', async () => {
    const size = 64 * mebibyte;
    collectGarbage();
    const before = process.memoryUsage().rss;
    for (let i = 0; i < 12; i++) {
      const controller = new AbortController();
      const stopped = EmbeddingModel.load(zerosOf(size), {
        signal: controller.signal,
        onProgress: ({ loaded, total }) => {
          if (total > 0 && loaded > total / 2) controller.abort(new Error('enough'));
        },
      });
      await expect(stopped).rejects.toThrow('enough');
      (await EmbeddingModel.load(zerosOf(size))).dispose();
    }
    // Kept, they would be 12 · (64 + 64) MB. The engine takes its time to give memory back.
    const grown = () => {
      collectGarbage();
      return process.memoryUsage().rss - before;
    };
    await expect.poll(grown, { timeout: 15_000, interval: 200 }).toBeLessThan(4 * size);
  });
});
