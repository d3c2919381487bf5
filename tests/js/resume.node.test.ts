/** Killed in the middle of a download, and started again: it resumes, and the bytes are the same. */
import { createHash } from 'node:crypto';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { chromium } from 'playwright';
import type { Page } from 'playwright';
import { rolldown } from 'rolldown';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { place } from './faults/client.js';
import { patternBytes } from './faults/content.js';
import type { Outcome } from './resume/download.js';
import { executables } from './setup/browsers.js';

const kSize = 12_000_001;
const kKillAt = 6_000_000;
const expected = createHash('sha256').update(patternBytes(0, kSize)).digest('hex');
const folder = inject('temporary');

async function bundle(entry: string): Promise<string> {
  const build = await rolldown({
    input: `${inject('root')}/tests/js/resume/${entry}.ts`,
    platform: 'neutral',
    external: /^node:/,
    resolve: { extensionAlias: { '.js': ['.ts', '.js'] } },
  });
  const { output } = await build.generate({ format: 'esm', codeSplitting: false });
  await build.write({ format: 'esm', codeSplitting: false, file: `${folder}/resume/${entry}.mjs` });
  await build.close();
  return output[0].code;
}

function check(outcome: Outcome, bytesSent: number): void {
  expect(outcome.digest).toBe(expected);
  expect(outcome.cached).toBeGreaterThan(kKillAt - 2 ** 21);
  expect(outcome.cached + outcome.fetched).toBeLessThan(kSize + 2 ** 17);
  // Of what the first run fetched, a block at most (and what was in the sockets) is fetched again.
  expect(bytesSent).toBeLessThan(kSize + 2 ** 22);
}

describe('a Node process', () => {
  beforeAll(() => bundle('process'));

  function start(url: string, onCount: (count: number, kill: () => void) => void): Promise<string> {
    const child = spawn(process.execPath, [`${folder}/resume/process.mjs`, url, `${folder}/killed`]);
    let last = '';
    createInterface(child.stdout).on('line', (line) => {
      last = line;
      onCount(Number(line), () => child.kill('SIGKILL'));
    });
    return new Promise((resolve) => child.once('close', () => resolve(last)));
  }

  test('goes on after SIGKILL', async () => {
    const { url, stats, closed } = place('paced', `pattern-${kSize}.bin`);
    const last = await start(url, (count, kill) => {
      if (count > kKillAt) kill();
    });
    expect(Number(last)).toBeGreaterThan(kKillAt);
    await closed();
    const outcome = JSON.parse(await start(url, () => undefined)) as Outcome;
    check(outcome, (await stats()).bytes);
  });
});

describe.skipIf(!existsSync(executables.chromium))('a page in Chromium', () => {
  test.each([
    // No time to clean up: the renderer dies in the middle of a chunk.
    ['crashed', async (page: Page) => void (await page.goto('chrome://crash').catch(() => undefined))],
    ['closed', (page: Page) => page.close()],
  ])(
    'goes on after its tab was %s',
    async (how, end) => {
      const script = await bundle('page');
      const server = createServer((request, response) => {
        const isScript = request.url === '/page.js';
        response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
        response.end(
          isScript ? script : '<!doctype html><body><script type="module" src="/page.js"></script>',
        );
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const { port } = server.address() as AddressInfo;
      const { url, stats, closed } = place('paced', `pattern-${kSize}.bin`);
      const address = `http://127.0.0.1:${port}/#${encodeURIComponent(url)}`;
      const launch = () =>
        chromium.launchPersistentContext(`${folder}/profile-${how}`, {
          executablePath: executables.chromium,
          args: ['--no-sandbox'],
        });
      try {
        const first = await launch();
        const page = await first.newPage();
        await page.goto(address);
        await page.waitForFunction((at) => Number(document.title) > at, kKillAt);
        await end(page);
        await closed();
        await first.close();
        const second = await launch();
        const again = await second.newPage();
        await again.goto(address);
        await again.waitForFunction(() => document.body.textContent?.startsWith('{'));
        const outcome = JSON.parse((await again.textContent('body')) ?? '') as Outcome;
        await second.close();
        check(outcome, (await stats()).bytes);
      } finally {
        server.close();
      }
    },
    40_000,
  );
});
