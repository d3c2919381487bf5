// The page of examples/page, built by each bundler and opened in Chromium.
import { copyFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { chromium } from 'playwright';
import { ids } from './model.mjs';
import { output } from './process.mjs';

const executablePath = '/usr/bin/chromium';
const commands = {
  vite: ['vite/bin/vite.js', 'build', '--config', 'vite/vite.config.js'],
  webpack: ['webpack-cli/bin/cli.js', '--config', 'webpack/webpack.config.js'],
  rollup: ['rollup/dist/bin/rollup', '--config', 'rollup/rollup.config.js'],
  esbuild: [null, 'esbuild/build.js'],
  parcel: [
    'parcel/lib/bin.js',
    'build',
    'page/index.html',
    '--dist-dir',
    'parcel/dist',
    '--public-url',
    './',
    '--no-cache',
    '--no-source-maps',
  ],
};

/** [name, () => what the page shows], for each bundler: with the rows in the page, and in workers. */
export function bundlers({ folder, tools, url }) {
  const page = (name, more = '') =>
    show(`${url}/${name}/dist/index.html?model=${url}/model.safetensors&ids=${ids}${more}`);
  return Object.entries(commands).flatMap(([name, [program, ...args]]) => [
    [
      name,
      async () => {
        const command = program === null ? args : [join(tools, 'node_modules', program), ...args];
        await output(process.execPath, command, folder);
        const html = join(folder, name, 'dist', 'index.html');
        if (!existsSync(html)) await copyFile(join(folder, 'page', 'index.html'), html);
        return page(name);
      },
    ],
    // Of what was built just now.
    [`${name}, workers`, () => page(name, '&residency=workers')],
  ]);
}

export const haveBrowser = existsSync(executablePath);

async function show(address) {
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  try {
    const page = await browser.newPage();
    const problems = [];
    page.on('pageerror', (error) => problems.push(error.message));
    page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
    await page.goto(address);
    const shown = page.waitForFunction(() => document.querySelector('output').textContent !== '');
    await shown.catch((error) => {
      throw new Error(`${error.message}; the page said: ${problems.join('; ')}`);
    });
    return await page.textContent('output');
  } finally {
    await browser.close();
  }
}
