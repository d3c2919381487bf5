/** The parts that behaviours are put together from: ranges read, headers written, bodies sent. */
import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import type { Exchange } from './server.js';

export interface Range {
  start: number;
  end: number;
}

const kChunkBytes = 256 * 1024;

/** The ranges that a request asks for; undefined where it asks for none. */
export function rangesOf({ request, file }: Exchange): Range[] | undefined {
  const match = /^bytes=(.+)$/.exec(request.headers.range ?? '');
  return match?.[1]!.split(',').map((range) => {
    const [start, last] = range.trim().split('-');
    return { start: Number(start), end: last ? Math.min(Number(last) + 1, file.size) : file.size };
  });
}

/** Writes [start, end) of the file, minding the pace of the reader; stops where the reader is gone. */
export async function sendBytes(exchange: Exchange, start: number, end: number): Promise<void> {
  const { response, file, stats } = exchange;
  for (let at = start; at < end && !response.destroyed; at += kChunkBytes) {
    const chunk = new Uint8Array(Math.min(kChunkBytes, end - at));
    file.fill(chunk, at);
    stats.bytes += chunk.length;
    if (!response.write(chunk)) await drained(response);
  }
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      response.off('drain', done).off('close', done);
      resolve();
    };
    response.on('drain', done).on('close', done);
  });
}

/** A decent answer: 206 for a range, multipart for several, 416 for one outside the file, 200 for no range. */
export async function sendWell(exchange: Exchange, headers: Record<string, string> = {}): Promise<void> {
  const { request, response, file } = exchange;
  const ranges = rangesOf(exchange);
  const all = { 'content-type': 'application/octet-stream', etag: '"v1"', ...headers };
  if (!ranges) {
    response.writeHead(200, { ...all, 'content-length': file.size });
    if (request.method !== 'HEAD') await sendBytes(exchange, 0, file.size);
    response.end();
    return;
  }
  if (ranges.some(({ start }) => start >= file.size)) {
    response.writeHead(416, { 'content-range': `bytes */${file.size}` }).end();
    return;
  }
  if (ranges.length > 1) return sendMultipart(exchange, ranges, all);
  const { start, end } = ranges[0]!;
  await sendPartial(exchange, { start, end }, { start, end }, all);
}

/** A 206 that claims one range and sends another. */
export async function sendPartial(
  exchange: Exchange,
  claimed: Range,
  sent: Range,
  headers: Record<string, string> = {},
): Promise<void> {
  const { response, file } = exchange;
  response.writeHead(206, {
    'content-type': 'application/octet-stream',
    etag: '"v1"',
    'content-range': `bytes ${claimed.start}-${claimed.end - 1}/${file.size}`,
    'content-length': claimed.end - claimed.start,
    ...headers,
  });
  await sendBytes(exchange, sent.start, sent.end);
  if (sent.end - sent.start === claimed.end - claimed.start) {
    response.end();
    return;
  }
  // What was written has to leave before the reset throws it away.
  await new Promise((resolve) => setTimeout(resolve, 30));
  response.destroy();
}

async function sendMultipart(
  exchange: Exchange,
  ranges: Range[],
  headers: Record<string, string>,
): Promise<void> {
  const { response, file } = exchange;
  response.writeHead(206, { ...headers, 'content-type': 'multipart/byteranges; boundary=next' });
  for (const { start, end } of ranges) {
    const range = `content-range: bytes ${start}-${end - 1}/${file.size}`;
    response.write(`\r\n--next\r\ncontent-type: application/octet-stream\r\n${range}\r\n\r\n`);
    await sendBytes(exchange, start, end);
  }
  response.end('\r\n--next--\r\n');
}

/** 200 with the whole file, whatever was asked for. */
export async function sendWhole(exchange: Exchange, headers: Record<string, string> = {}): Promise<void> {
  const { request, response, file } = exchange;
  response.writeHead(200, { 'content-type': 'application/octet-stream', etag: '"v1"', ...headers });
  if (request.method !== 'HEAD') await sendBytes(exchange, 0, file.size);
  response.end();
}

export function gzipped({ file }: Exchange): Buffer {
  const bytes = new Uint8Array(file.size);
  file.fill(bytes, 0);
  return gzipSync(bytes);
}
