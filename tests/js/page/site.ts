// The page as a person meets it: built, served with its headers, driven in a browser under its content security policy.
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { chromium } from 'playwright';
import type { Browser, BrowserContextOptions, Page } from 'playwright';
import { build, preview } from 'vite';
import { afterAll, beforeAll, expect, inject } from 'vitest';
import { executables } from '../setup/browsers.js';

/** Browsers start slowly on a busy machine. */
export const patience = 120_000;

export interface Site {
  url: string;
  /** Where its files lie. */
  folder: string;
  stop(): Promise<void>;
}

/** Builds the page into a folder of its own and serves it. */
export async function serveSite(): Promise<Site> {
  const root = `${inject('root')}web`;
  const outDir = await mkdtemp(join(inject('temporary'), 'page-'));
  const config = {
    root,
    configFile: `${root}/vite.config.ts`,
    logLevel: 'error' as const,
    build: { outDir, emptyOutDir: true },
  };
  await build(config);
  const server = await preview({ ...config, preview: { port: 0, host: '127.0.0.1' } });
  return { url: server.resolvedUrls!.local[0]!, folder: outDir, stop: () => server.close() };
}

export interface Visit {
  page: Page;
  /** What the console and the page complained of. */
  complaints: string[];
}

export async function visit(browser: Browser, url: string, options?: BrowserContextOptions): Promise<Visit> {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  page.setDefaultTimeout(patience / 2);
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  await page.goto(url);
  return { page, complaints };
}

export const launchChromium = () =>
  chromium.launch({ executablePath: executables.chromium, args: ['--no-sandbox'] });

/** One visit that all tests of a file share. Its fields are there once tests run: do not take them apart before. */
export function sharedVisit(): Visit & { site: Site; browser: Browser } {
  const at = {} as Visit & { site: Site; browser: Browser };
  beforeAll(async () => {
    at.site = await serveSite();
    at.browser = await launchChromium();
    Object.assign(at, await visit(at.browser, at.site.url));
  }, patience);
  afterAll(async () => {
    await at.browser?.close();
    await at.site?.stop();
  });
  return at;
}

/** Types ids, whatever was typed before. */
export async function typeIds(page: Page, ids: string): Promise<void> {
  const asIds = page.locator('.switch', { hasText: 'Type' }).getByText('ids', { exact: true });
  if (await asIds.isVisible()) await asIds.click();
  await page.locator('#typed').fill(ids);
}

/** The first `count` numbers of a row, read with the keyboard as the page shows them: four digits. */
export async function readRow(page: Page, position: number, count: number): Promise<string[]> {
  const row = page.locator('.matrix .row').nth(position);
  await row.focus();
  await page.keyboard.press('Home');
  const numbers: string[] = [];
  for (let i = 0; i < count; i++) {
    if (i > 0) await page.keyboard.press('ArrowRight');
    const said = page.getByText(`row ${position}, dimension ${i}: `);
    numbers.push((await said.textContent())!.split(': ')[1]!);
  }
  return numbers;
}

/** A file for an `<input type=file>`. */
export const upload = (name: string, content: Uint8Array | string) => ({
  name,
  mimeType: 'application/octet-stream',
  buffer: Buffer.from(content),
});

/** Looks until it is as expected, patiently. */
export const eventually = <T>(look: () => T) => expect.poll(look, { timeout: patience / 2 });
