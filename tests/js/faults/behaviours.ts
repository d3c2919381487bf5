/** Every way to misbehave, by name. Each is a function of one exchange; `stats.requests` tells which time it is. */
import type { Exchange } from './server.js';
import { gzipped, rangesOf, sendBytes, sendPartial, sendWell, sendWhole } from './send.js';

type Behaviour = (exchange: Exchange) => void | Promise<void>;

const times = ({ stats }: Exchange): number => stats.requests.length;
const length = ({ file }: Exchange) => ({ 'content-length': String(file.size) });

function status(code: number, headers: Record<string, string> = {}): Behaviour {
  return ({ response }) => void response.writeHead(code, headers).end('no');
}

/** `first` for the first `count` requests, decent afterwards. */
function atFirst(count: number, first: Behaviour): Behaviour {
  return (exchange) => (times(exchange) <= count ? first(exchange) : sendWell(exchange));
}

/** Decent for the first `count` requests, `later` afterwards. */
function later(count: number, misbehave: Behaviour): Behaviour {
  return (exchange) => (times(exchange) <= count ? sendWell(exchange) : misbehave(exchange));
}

/** Sends half of what was asked for, then does `then`. */
function half(then: Behaviour): Behaviour {
  return async (exchange) => {
    const { response, file } = exchange;
    const { start, end } = rangesOf(exchange)?.[0] ?? { start: 0, end: file.size };
    response.writeHead(206, {
      etag: '"v1"',
      'content-range': `bytes ${start}-${end - 1}/${file.size}`,
      'content-length': end - start,
    });
    await sendBytes(exchange, start, start + Math.floor((end - start) / 2));
    // What was written has to leave before a reset throws it away.
    await new Promise((resolve) => setTimeout(resolve, 30));
    await then(exchange);
  };
}

/** Sends a few bytes, rests, and so on: the line is slow but never stuck. */
function paced(bytes: number, milliseconds: number): Behaviour {
  return async (exchange) => {
    const { response, file } = exchange;
    const { start, end } = rangesOf(exchange)![0]!;
    response.writeHead(206, { etag: '"v1"', 'content-range': `bytes ${start}-${end - 1}/${file.size}` });
    for (let at = start; at < end && !response.destroyed; at += bytes) {
      await sendBytes(exchange, at, Math.min(end, at + bytes));
      await new Promise((resolve) => setTimeout(resolve, milliseconds));
    }
    response.end();
  };
}

const reset: Behaviour = ({ response }) => void response.destroy();
const stall: Behaviour = ({ response }) => response.flushHeaders();

export const behaviours: Record<string, Behaviour | undefined> = {
  ok: (exchange) => sendWell(exchange),
  script: (exchange) => sendWell(exchange, { 'content-type': 'text/javascript' }),
  cacheable: (exchange) => sendWell(exchange, { 'cache-control': 'max-age=3600' }),
  'no-range': (exchange) => sendWhole(exchange, length(exchange)),
  'no-range-reset': (exchange) =>
    times(exchange) === 1 ? breakWhole(exchange) : sendWhole(exchange, length(exchange)),
  'whole-later': later(1, (exchange) => sendWhole(exchange, length(exchange))),
  'wrong-content-range': later(1, (exchange) => {
    const { start, end } = rangesOf(exchange)![0]!;
    return sendPartial(exchange, { start: 0, end: end - start }, { start: 0, end: end - start });
  }),
  // Says so, and is right: the rest has to be asked for.
  'shorter-range': later(1, (exchange) => {
    const { start, end } = rangesOf(exchange)![0]!;
    const less = { start, end: Math.min(end, start + 60_000) };
    return sendPartial(exchange, less, less);
  }),
  // Claims all of it, and sends less.
  'short-body': later(1, (exchange) => {
    const { start, end } = rangesOf(exchange)![0]!;
    return sendPartial(exchange, { start, end }, { start, end: Math.min(end, start + 60_000) });
  }),
  'empty-body': later(1, (exchange) => {
    const { start, end } = rangesOf(exchange)![0]!;
    return sendPartial(exchange, { start, end }, { start, end: start });
  }),
  'longer-range': later(1, async (exchange) => {
    const { start, end } = rangesOf(exchange)![0]!;
    const more = { start: Math.max(0, start - 100), end: Math.min(exchange.file.size, end + 100) };
    await sendPartial(exchange, more, more);
  }),
  416: (exchange) => (rangesOf(exchange) ? status(416)(exchange) : sendWhole(exchange, length(exchange))),
  '416-later': later(1, (exchange) =>
    status(416, { 'content-range': `bytes */${exchange.file.size - 7}` })(exchange),
  ),
  404: status(404),
  403: status(403),
  401: status(401),
  token: (exchange) =>
    exchange.request.headers.authorization === 'Bearer secret' ? sendWell(exchange) : status(401)(exchange),
  429: atFirst(1, status(429, { 'retry-after': '1' })),
  '429-long': status(429, { 'retry-after': '600' }),
  500: atFirst(1, status(500)),
  '500-later': (exchange) => (times(exchange) === 2 ? status(500)(exchange) : sendWell(exchange)),
  '500-always': status(500),
  reset: (exchange) => (times(exchange) === 2 ? half(reset)(exchange) : sendWell(exchange)),
  'reset-often': later(1, (exchange) =>
    times(exchange) % 4 === 0 ? sendWell(exchange) : half(reset)(exchange),
  ),
  'reset-always': later(1, reset),
  'reset-at-once': reset,
  stall: (exchange) => (times(exchange) === 2 ? half(stall)(exchange) : sendWell(exchange)),
  'stall-always': later(1, stall),
  'stall-headers': () => undefined,
  // Three million bytes of the second answer, and then silence, once.
  pause: (exchange) => (times(exchange) === 2 ? pause(exchange) : sendWell(exchange)),
  slow: later(1, paced(20_000, 100)),
  paced: later(1, paced(250_000, 20)),
  gzip: (exchange) => {
    const body = gzipped(exchange);
    exchange.stats.bytes += body.length;
    exchange.response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': body.length }).end(body);
  },
  'gzip-range': (exchange) => {
    if (!rangesOf(exchange)) return behaviours.gzip!(exchange);
    const { start, end } = rangesOf(exchange)![0]!;
    const body = gzipped(exchange).subarray(start, end);
    const { size } = exchange.file;
    exchange.response
      .writeHead(206, { 'content-encoding': 'gzip', 'content-range': `bytes ${start}-${end - 1}/${size}` })
      .end(body);
  },
  'no-length': (exchange) => sendWhole(exchange),
  html: ({ response }) =>
    void response
      .writeHead(200, { 'content-type': 'text/html; charset=utf-8' })
      .end('<!doctype html><p>Log in</p>'),
  'html-disguised': ({ response }) =>
    void response
      .writeHead(200, { 'content-type': 'application/octet-stream' })
      .end('\n<html><head><title>Log in</title></head></html>'.padEnd(200)),
  redirect: ({ request, response, otherOrigin }) =>
    void response
      .writeHead(302, { location: otherOrigin + request.url!.replace('/redirect/', '/ok/') })
      .end(),
  'cors-hidden': (exchange) => {
    exchange.response.removeHeader('access-control-expose-headers');
    return sendWell(exchange);
  },
  'cors-hidden-no-head': (exchange) => {
    exchange.response.removeHeader('access-control-expose-headers');
    if (exchange.request.method === 'HEAD') return status(405)(exchange);
    return rangesOf(exchange) ? sendWell(exchange) : sendWhole(exchange, length(exchange));
  },
  'no-preflight': (exchange) =>
    exchange.request.headers.range ? reset(exchange) : sendWhole(exchange, length(exchange)),
  'one-range': (exchange) =>
    (rangesOf(exchange)?.length ?? 1) > 1 ? sendWhole(exchange, length(exchange)) : sendWell(exchange),
  // Every other load finds another file: two requests each.
  'new-version': (exchange) => sendWell(exchange, { etag: times(exchange) <= 2 ? '"v1"' : '"v2"' }),
  'gone-later': later(2, reset),
  // Once the table has been sent, the server is gone.
  'gone-after-table': (exchange) => (exchange.stats.bytes > 256_000 ? reset(exchange) : sendWell(exchange)),
  // The head, config.json (which is missing), then rows.
  'changes-and-back': (exchange) => sendWell(exchange, { etag: times(exchange) === 3 ? '"v2"' : '"v1"' }),
  'changed-etag': later(1, (exchange) => sendWell(exchange, { etag: '"v2"' })),
  'changed-date': (exchange) => {
    exchange.response.setHeader('last-modified', new Date(times(exchange) * 86_400_000).toUTCString());
    const { start, end } = rangesOf(exchange)![0]!;
    const { response, file } = exchange;
    response.writeHead(206, { 'content-range': `bytes ${start}-${end - 1}/${file.size}` });
    return sendBytes(exchange, start, end).then(() => void response.end());
  },
  'changed-size': later(1, (exchange) => {
    const shorter = { ...exchange.file, size: exchange.file.size - 1 };
    return sendWell({ ...exchange, file: shorter });
  }),
};

async function pause(exchange: Exchange): Promise<void> {
  const { start, end } = rangesOf(exchange)![0]!;
  const range = `bytes ${start}-${end - 1}/${exchange.file.size}`;
  exchange.response.writeHead(206, { etag: '"v1"', 'content-range': range, 'content-length': end - start });
  await sendBytes(exchange, start, start + 3_000_000);
}

async function breakWhole(exchange: Exchange): Promise<void> {
  exchange.response.writeHead(200, { etag: '"v1"', ...length(exchange) });
  await sendBytes(exchange, 0, Math.floor(exchange.file.size / 2));
  await new Promise((resolve) => setTimeout(resolve, 30));
  exchange.response.destroy();
}
