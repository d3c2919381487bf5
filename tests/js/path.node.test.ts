/** Files on disk, by path. */
import { mkdir, truncate, writeFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { openSource } from '../../bindings/js/sources/open.js';
import { patternBytes } from './faults/content.js';

const folder = `${inject('temporary')}/paths with spaces`;
const bytes = patternBytes(0, 2_500_000);

beforeAll(async () => {
  await mkdir(`${folder}/empty`, { recursive: true });
  await writeFile(`${folder}/model-00001-of-00002.gguf`, bytes);
  await writeFile(`${folder}/model-00002-of-00002.gguf`, 'second');
});

describe('a path', () => {
  test.each([
    ['as a string', `${folder}/model-00001-of-00002.gguf`],
    ['as a file: URL', pathToFileURL(`${folder}/model-00001-of-00002.gguf`)],
    ['of a folder', folder],
  ])('%s', async (_, like) => {
    const source = await openSource(like);
    expect(source.name).toBe('model-00001-of-00002.gguf');
    expect(await source.size()).toBe(bytes.length);
    expect(await source.read(100, 200)).toEqual(bytes.slice(100, 200));
    let at = 0;
    for await (const chunk of source.stream(0, bytes.length)) {
      expect(chunk.every((byte, i) => byte === bytes[at + i])).toBe(true);
      at += chunk.length;
    }
    expect(at).toBe(bytes.length);
    expect(await source.sibling('model-00002-of-00002.gguf').size()).toBe(6);
    await source.close?.();
    await source.close?.();
  });

  test('relative to the current folder', async () => {
    expect(await (await openSource('package.json')).size()).toBeGreaterThan(100);
  });
});

describe('one clear error', () => {
  test.each([
    ['no file', '/no/such/model.gguf', 'not-found', /no file \/no\/such\/model.gguf/],
    ['a folder without a model', `${folder}/empty`, 'not-found', /no file of a model in the folder/],
    ['a device', '/dev/null', 'unsupported', /is not a file/],
  ])('for %s', async (_, path, code, message) => {
    const work = async () => (await openSource(path)).size();
    await expect(work()).rejects.toMatchObject({ code, message: expect.stringMatching(message) as string });
  });

  test('for a range beyond the end', async () => {
    const source = await openSource(folder);
    await expect(source.read(0, bytes.length + 1)).rejects.toMatchObject({ code: 'truncated' });
    await source.close?.();
  });

  test('for a sibling outside the folder', async () => {
    const source = await openSource(folder);
    await expect(source.sibling('../x').size()).rejects.toMatchObject({ code: 'not-found' });
    await expect(source.sibling('/etc/passwd').size()).rejects.toMatchObject({ code: 'not-found' });
  });

  test('for a file that is cut off while it is read', async () => {
    const path = `${folder}/short.bin`;
    await writeFile(path, bytes);
    const source = await openSource(path);
    await source.size();
    await truncate(path, 10);
    await expect(source.read(0, 100)).rejects.toMatchObject({ code: 'changed' });
    await source.close?.();
  });
});
