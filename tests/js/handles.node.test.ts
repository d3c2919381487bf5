// A model holds no file open that it does not read any more, however its load ended.
import { existsSync } from 'node:fs';
import { open, readdir, readlink } from 'node:fs/promises';
import { EmbeddingModel } from 'id2vec';
import type { LoadOptions } from 'id2vec';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { PathSource } from '../../bindings/js/sources/path.js';
import { gguf } from './files/gguf.js';

const path = `${inject('temporary')}/handles.gguf`;
const broken = `${inject('temporary')}/handles-broken.gguf`;
const [rows, dim] = [20_000, 512];

beforeAll(async () => {
  const data = new Uint8Array();
  const header = gguf([{ name: 'token_embd.weight', dtype: 'F16', shape: [rows, dim], data }]);
  for (const [name, bytes] of [
    [path, rows * dim * 2],
    [broken, 1000],
  ] as const) {
    const file = await open(name, 'w');
    await file.write(header);
    await file.truncate(header.length + bytes); // zeros
    await file.close();
  }
});

/** How often this process has a file open. */
async function handles(name: string): Promise<number> {
  const numbers = await readdir('/proc/self/fd');
  const links = await Promise.all(numbers.map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')));
  return links.filter((link) => link === name).length;
}

describe.skipIf(!existsSync('/proc/self/fd'))('handles', () => {
  it.each(['memory', 'workers'] as const)('are closed once the rows are loaded: %s', async (residency) => {
    await using model = await EmbeddingModel.load(path, { residency, workers: 2 });
    expect(await handles(path)).toBe(0);
    expect((await model.lookup([rows - 1])).data).toEqual(new Float32Array(dim));
  });

  it('are closed with a model that reads rows when it needs them', async () => {
    const model = await EmbeddingModel.load(path, { residency: 'remote' });
    await model.lookup([5]);
    expect(await handles(path)).toBe(1);
    model.dispose();
    await expect.poll(() => handles(path)).toBe(0);
  });

  it.each(['memory', 'workers'] as const)('are closed when a load is stopped: %s', async (residency) => {
    const controller = new AbortController();
    const options: LoadOptions = {
      residency,
      workers: 2,
      signal: controller.signal,
      onProgress: ({ loaded, total }) => {
        if (total > 0 && loaded > total / 3) controller.abort(new Error('enough'));
      },
    };
    await expect(EmbeddingModel.load(path, options)).rejects.toThrow('enough');
    await expect.poll(() => handles(path)).toBe(0);
  });

  it.each(['memory', 'workers', 'remote'] as const)(
    'are closed whenever it is stopped: %s',
    async (residency) => {
      for (let turns = 0; turns < 24; turns += 1) {
        const controller = new AbortController();
        const load = EmbeddingModel.load(path, { residency, workers: 1, signal: controller.signal });
        const ended = load.then(
          (model) => model.dispose(),
          (error: unknown) => expect(String(error)).toContain('enough'),
        );
        for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve));
        controller.abort(new Error('enough'));
        await ended;
      }
      await expect.poll(() => handles(path)).toBe(0);
    },
  );

  it('are not opened again by a read that comes after the end', async () => {
    const source = new PathSource(path);
    await source.read(0, 4);
    expect(await handles(path)).toBe(1);
    await source.close();
    await expect(source.read(4, 8)).rejects.toMatchObject({ code: 'disposed' });
    expect(await handles(path)).toBe(0);
  });

  it.each(['memory', 'workers', 'remote'] as const)('are closed when a load fails: %s', async (residency) => {
    const load = EmbeddingModel.load(broken, { residency, workers: 2 });
    await expect(load).rejects.toMatchObject({ code: 'truncated' });
    await expect.poll(() => handles(broken)).toBe(0);
  });
});
