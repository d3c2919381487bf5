// After one visit the page needs no server any more.
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { firefox } from 'playwright';
import type { Browser } from 'playwright';
import { expect, test } from 'vitest';
import { place } from './faults/client.js';
import { eventually, launchChromium, patience, serveSite, typeIds, visit } from './page/site.js';
import { executables } from './setup/browsers.js';

const launchFirefox = () => firefox.launch({ channel: 'moz-firefox', executablePath: executables.firefox });

async function stopTheServerAndReload(browser: Browser): Promise<void> {
  const site = await serveSite();
  try {
    const { page, complaints } = await visit(browser, site.url);
    await page.getByText('This page works offline now.').waitFor();
    const { url } = place('ok', 'table-2000x64-before-1000-after-1000.safetensors');
    await page.getByLabel('URL of a model file').fill(url);
    await page.getByRole('button', { name: 'Open', exact: true }).click();
    await page.locator('.traffic').waitFor();

    await site.stop();
    await expect(fetch(site.url)).rejects.toThrow();
    await page.reload();
    await page.getByRole('heading', { name: 'X = E[ids]' }).waitFor();
    await typeIds(page, '9 1706 9');
    await eventually(() => page.locator('.matrix .row').count()).toBe(3);
    // The best of [▁the, …]: logits, neighbours and the other model are all here.
    await page.locator('#near .near li').first().waitFor();
    await page.getByRole('button', { name: 'GloVe' }).click();
    await page.getByText('1,000,000').first().waitFor();
    await page.getByRole('button', { name: '≈ ?' }).click();
    await eventually(() => page.locator('.analogy .near li').first().textContent()).toContain('queen');
    // Workers start, too.
    await page.getByRole('button', { name: 'Train a small one' }).click();
    await page.locator('.neighbours li').first().waitFor();
    await page.getByText('Kept on this device').click();
    await page.locator('.kept-name').click();
    await page.locator('#model h2', { hasText: 'table-2000x64' }).waitFor();
    // The page itself has nothing to complain of; a network that is gone and a config.json that is not there are noted.
    expect(complaints.filter((text) => !/status of 404|ERR_|NetworkError/.test(text))).toEqual([]);
  } finally {
    await site.stop().catch(() => undefined);
    await browser.close();
  }
}

test('in Chromium', async () => stopTheServerAndReload(await launchChromium()), 2 * patience);

test.skipIf(!existsSync(executables.firefox))(
  'in Firefox',
  async () => stopTheServerAndReload(await launchFirefox()),
  2 * patience,
);

/** Gives the served page another title, as a new version would have, and its service worker another list. */
async function publish(folder: string, title: string): Promise<void> {
  const html = await readFile(`${folder}/index.html`, 'utf8');
  await writeFile(`${folder}/index.html`, html.replace(/<title>.*<\/title>/, `<title>${title}</title>`));
  const worker = await readFile(`${folder}/sw.js`, 'utf8');
  const listed = /index\.html["'`],\s*revision:\s*["'`]([0-9a-f]{16})/.exec(worker)!;
  await writeFile(`${folder}/sw.js`, worker.replace(listed[1]!, '0123456789abcdef'));
}

test(
  'a new version waits until the person asks for it',
  async () => {
    const site = await serveSite();
    const browser = await launchChromium();
    try {
      const { page, complaints } = await visit(browser, site.url);
      await page.getByText('This page works offline now.').waitFor();
      const before = await page.title();
      await publish(site.folder, 'The next id2vec');
      await page.reload();
      await page.getByText('A newer version of this page is here.').waitFor();
      expect(await page.title()).toBe(before);
      await page.getByRole('button', { name: 'Use it' }).click();
      await eventually(() => page.title()).toBe('The next id2vec');
      await page.getByText('This page works offline now.').waitFor();
      expect(complaints).toEqual([]);
    } finally {
      await browser.close();
      await site.stop();
    }
  },
  patience,
);
