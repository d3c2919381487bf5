/** One file over HTTP, with ranges; a process of its own, so that its work is not the loading process's pause. */
import { createReadStream, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { pathToFileURL } from 'node:url';
import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads';

function answer(folder, request, response) {
  const path = folder + new URL(request.url, 'http://localhost').pathname;
  const { size } = statSync(path, { throwIfNoEntry: false }) ?? {};
  if (size === undefined) return response.writeHead(404).end();
  const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '');
  const [start, end] = range ? [Number(range[1]), Math.min(Number(range[2]), size - 1)] : [0, size - 1];
  response.writeHead(range ? 206 : 200, {
    'accept-ranges': 'bytes',
    'content-length': end - start + 1,
    etag: `"${size}"`,
    ...(range && { 'content-range': `bytes ${start}-${end}/${size}` }),
  });
  createReadStream(path, { start, end, highWaterMark: 1 << 18 }).pipe(response);
}

/** @returns `{ address, close }` of a server of the files in `folder` */
export async function serveFolder(folder) {
  const worker = new Worker(new URL(pathToFileURL(import.meta.filename)), { workerData: folder });
  const port = await new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject));
  return { address: `http://127.0.0.1:${port}`, close: () => worker.terminate() };
}

if (!isMainThread) {
  const server = createServer((request, response) => answer(workerData, request, response));
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
}
