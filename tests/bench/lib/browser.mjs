/** Runs a measuring module (run.mjs) in the machine's Chromium, headless, from a server of its own. */
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';

const kRoot = join(import.meta.dirname, '../../..');
const kServed = ['dist', 'build/wasm', 'tests/bench'];
const kTypes = { '.js': 'text/javascript', '.mjs': 'text/javascript', '.wasm': 'application/wasm' };
// Isolated pages have a clock of 5 µs instead of 100 µs.
const kHeaders = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-embedder-policy': 'require-corp',
};

export async function runInBrowser(module, options, { begin, take }) {
  if (options.browser !== 'chromium') throw new Error(`no browser ${options.browser}: there is chromium`);
  const { chromium } = await import('playwright');
  const server = await serve();
  const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  try {
    const page = await browser.newPage();
    const failure = new Promise((_, reject) =>
      page.once('crash', () => reject(new Error('the page crashed'))),
    );
    failure.catch(() => undefined);
    await page.exposeFunction('id2vecTake', take);
    await page.goto(`http://127.0.0.1:${server.address().port}/`);
    begin(`Chromium ${browser.version()}`);
    await Promise.race([page.evaluate(measureInPage, { module, options }), failure]);
  } finally {
    await browser.close();
    server.close();
  }
}

/** In the page. */
async function measureInPage({ module, options }) {
  const { results } = await import(`/tests/bench/lib/${module}.mjs`);
  for await (const result of results(options)) await globalThis.id2vecTake(result);
}

async function serve() {
  const server = createServer((request, response) => {
    answer(new URL(request.url, 'http://localhost').pathname).then(
      ([type, body]) => response.writeHead(200, { ...kHeaders, 'content-type': type }).end(body),
      () => response.writeHead(404, kHeaders).end(),
    );
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

async function answer(path) {
  if (path === '/') return ['text/html', '<!doctype html><title>id2vec</title>'];
  const name = normalize(decodeURIComponent(path)).slice(1);
  const peers = process.env.ID2VEC_PEERS;
  if (name.startsWith('peers/') && peers !== undefined) {
    return fileOf(join(peers, 'node_modules', name.slice('peers/'.length)));
  }
  if (!kServed.some((folder) => name.startsWith(`${folder}/`))) throw new Error('not served');
  return fileOf(join(kRoot, name));
}

async function fileOf(path) {
  return [kTypes[extname(path)] ?? 'application/octet-stream', await readFile(path)];
}
