// Serves the model (with ranges) and what the bundlers have built, under the policy that the package promises to
// work with.
import { createServer } from 'node:http';
import { readFile } from 'node:fs/promises';
import { extname, join, normalize } from 'node:path';

const types = { '.html': 'text/html', '.js': 'text/javascript', '.wasm': 'application/wasm' };
// Parcel writes an import map into the page, which such a policy forbids.
const unpoliced = '/parcel/';
const policy = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'";

export async function serve(folder) {
  const server = createServer(async (request, response) => {
    const path = join(folder, normalize(decodeURIComponent(new URL(request.url, 'http://x').pathname)));
    const bytes = await readFile(path).catch(() => undefined);
    if (!bytes) {
      response.writeHead(404).end();
      return;
    }
    const headers = {
      'content-type': types[extname(path)] ?? 'application/octet-stream',
      ...(request.url.startsWith(unpoliced) ? {} : { 'content-security-policy': policy }),
    };
    const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '');
    if (!range) {
      response.writeHead(200, headers).end(bytes);
      return;
    }
    const part = bytes.subarray(Number(range[1]), Number(range[2]) + 1);
    headers['content-range'] = `bytes ${range[1]}-${Number(range[1]) + part.length - 1}/${bytes.length}`;
    response.writeHead(206, headers).end(part);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${server.address().port}`, close: () => server.close() };
}
