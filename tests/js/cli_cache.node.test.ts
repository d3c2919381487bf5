// `id2vec cache …`, and the options of every command that have to do with the network.
import { execFile } from 'node:child_process';
import { describe, expect, inject, test } from 'vitest';
import { projectPath } from './corpus.js';
import { place } from './faults/client.js';

const kFile = 'table-300x64-before-1000-after-1000.safetensors';
const env = { ...process.env, ID2VEC_MODELS: `${inject('temporary')}/command-line` };

interface Run {
  code: number;
  stdout: string;
  stderr: string;
}

function id2vec(...words: string[]): Promise<Run> {
  return new Promise((resolve) => {
    const args = [projectPath('dist/cli.js'), ...words];
    const child = execFile(process.execPath, args, { env }, (_, stdout, stderr) => {
      resolve({ code: child.exitCode ?? -1, stdout, stderr });
    });
  });
}

const json = async (...words: string[]) => JSON.parse((await id2vec(...words, '--json')).stdout) as unknown;

describe('id2vec cache', () => {
  test('lists, measures and deletes what a command has fetched', async () => {
    const { url, stats } = place('ok', kFile);
    const first = await id2vec('lookup', url, '3', '299');
    expect(first).toMatchObject({ code: 0, stderr: '' });
    expect(await json('cache', 'list')).toMatchObject({ files: [{ url }] });
    expect((await id2vec('cache', 'list')).stdout).toContain(url);
    const { requests } = await stats();
    expect(await id2vec('lookup', url, '3', '299', '--offline')).toEqual(first);
    expect((await stats()).requests).toEqual(requests);
    expect(await json('cache', 'size')).toEqual({ bytes: expect.any(Number) as number });
    expect(await json('cache', 'delete', url)).toEqual({ deleted: 1 });
    expect((await id2vec('cache', 'list')).stdout).toBe('nothing is cached\n');
    const offline = await id2vec('lookup', url, '3', '--offline');
    expect(offline.code).toBe(1);
    expect(offline.stderr).toMatch(/is not in the cache.*offline/);
  });

  test('is left alone with --no-cache, and clear empties it', async () => {
    const { url } = place('ok', kFile);
    expect((await id2vec('lookup', url, '1', '--no-cache')).code).toBe(0);
    expect(await json('cache', 'list')).toEqual({ files: [] });
    await id2vec('lookup', url, '1');
    await id2vec('cache', 'clear');
    expect(await json('cache', 'size')).toEqual({ bytes: 0 });
  });

  test.each([
    ['cache'],
    ['cache', 'burn'],
    ['cache', 'delete'],
    ['cache', 'list', 'x'],
    ['cache', 'constructor'],
  ])('wrong usage: %s %s', async (...words) => {
    const { code, stderr } = await id2vec(...words);
    expect(code).toBe(2);
    expect(stderr).toMatch(/usage: id2vec cache/);
  });
});
