// The page as a person meets it: built, served with its headers, driven in Chromium under its content security policy.
import { chromium } from 'playwright';
import type { Browser, Page } from 'playwright';
import { build, preview } from 'vite';
import type { PreviewServer } from 'vite';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';

const web = `${inject('root')}web`;
const config = { root: web, configFile: `${web}/vite.config.ts`, logLevel: 'error' as const };
const patience = 120_000;

let server: PreviewServer;
let browser: Browser;
let page: Page;
const complaints: string[] = [];

beforeAll(async () => {
  await build(config);
  server = await preview({ ...config, preview: { port: 0, host: '127.0.0.1' } });
  browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
  page = await browser.newPage();
  page.setDefaultTimeout(patience / 2);
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  await page.goto(server.resolvedUrls!.local[0]!);
}, patience);

afterAll(async () => {
  await browser?.close();
  await server?.close();
});

test(
  'loads the default model by itself and shows rows and logits',
  async () => {
    await page.getByRole('heading', { name: 'X = E[ids]' }).waitFor();
    expect(await page.locator('.row').count()).toBe(7);
    // Of the row of "▁What", the best logit is its own.
    await page.locator('.chart text', { hasText: '▁What' }).first().waitFor();
    expect(await page.evaluate(() => crossOriginIsolated)).toBe(true);
  },
  patience,
);

test(
  'takes ids, and says what is wrong with a wrong one',
  async () => {
    await page.getByLabel('ids or words').fill('9 1706 9');
    await expect.poll(() => page.locator('.row').count(), { timeout: patience / 2 }).toBe(3);
    await page.getByLabel('ids or words').fill('9 8002');
    await page.getByText('id 8002 at position 1 is outside the vocabulary of 8002 rows').waitFor();
    expect(await page.locator('.row').count()).toBe(3); // the last good picture stays
  },
  patience,
);

test(
  'king − man + woman',
  async () => {
    await page.getByRole('button', { name: 'GloVe' }).click();
    await page.getByText('1,000,000').waitFor();
    await page.getByRole('button', { name: '≈ ?' }).click();
    await page.locator('.analogy .near li').first().waitFor();
    expect(await page.locator('.analogy .near li').first().textContent()).toContain('queen');
  },
  patience,
);

test(
  'trains a table in a worker',
  async () => {
    await page.getByRole('button', { name: 'Train a small one' }).click();
    await page.locator('.neighbours li').first().waitFor();
    expect(await page.locator('.neighbours').textContent()).toMatch(/queen|dog|tuesday/);
  },
  patience,
);

test(
  'a file that is none gets a sentence, and the model stays',
  async () => {
    const html = {
      name: 'page.gguf',
      mimeType: 'text/html',
      buffer: Buffer.from('<!doctype html><p>sorry</p>'),
    };
    await page.locator('input[type=file]').setInputFiles(html);
    await page.getByText('HTML').waitFor();
    expect(await page.locator('.row').count()).toBeGreaterThan(0);
  },
  patience,
);

test('nothing was complained of', () => {
  expect(complaints).toEqual([]);
});
