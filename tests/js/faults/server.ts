/**
 * A web server that misbehaves on request, and counts. Addresses are
 *
 *   /ID/BEHAVIOUR/FILE    FILE as in content.ts (or of a folder given to `serve`), sent the way behaviours.ts says
 *   /stats/ID             what was asked of /ID/… so far, as JSON
 *   /start                starts another server of the same kind and answers with its address
 *   /stop/PORT            stops that one: its connections are cut, and nobody listens there any more
 *
 * A test takes an ID of its own, so that tests do not see each other's counts.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { behaviours } from './behaviours.js';
import { virtualFile, type VirtualFile } from './content.js';
import { diskFile } from './disk.js';

export interface Stats {
  /** GET requests, in order: their Range header or ''. */
  requests: string[];
  heads: number;
  /** Bytes of file content that were written to sockets. */
  bytes: number;
  /** Responses that are neither finished nor closed. */
  open: number;
}

export interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  file: VirtualFile;
  stats: Stats;
  /** Another origin of the same server. */
  otherOrigin: string;
}

export interface FaultServer {
  url: string;
  close(): Promise<void>;
}

const kCors = {
  'access-control-allow-origin': '*',
  'access-control-allow-headers': '*, range, authorization',
  'access-control-allow-methods': 'GET, HEAD',
  'access-control-expose-headers': 'content-range, content-encoding, etag, retry-after, accept-ranges',
  'cross-origin-resource-policy': 'cross-origin',
};

/** Starts on two ports of 127.0.0.1 (two origins); `folders` hold real files to serve. */
export async function serve(folders: readonly string[] = []): Promise<FaultServer> {
  const all = new Map<string, Stats>();
  const ports = [0, 0];
  const more = new Map<number, Server>();
  const handler = (i: number) => (request: IncomingMessage, response: ServerResponse) => {
    const other = `http://127.0.0.1:${ports[1 - i]}`;
    const answered =
      control(request, response, more, handler(i)) ?? answer(request, response, all, other, folders);
    answered.catch(() => response.destroy());
  };
  const servers = await Promise.all(ports.map((_, i) => listen(handler(i))));
  servers.forEach((server, i) => (ports[i] = portOf(server)));
  return {
    url: `http://127.0.0.1:${ports[0]}`,
    async close() {
      for (const server of [...servers, ...more.values()]) await stop(server);
    },
  };
}

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** Starts and stops other servers; undefined for a request that wants something else. */
function control(
  request: IncomingMessage,
  response: ServerResponse,
  more: Map<number, Server>,
  handler: Handler,
): Promise<void> | undefined {
  const [, verb, port] = request.url!.split('/');
  if (verb !== 'start' && verb !== 'stop') return undefined;
  for (const [name, value] of Object.entries(kCors)) response.setHeader(name, value);
  return verb === 'start' ? startAnother() : stopAnother(Number(port));

  async function startAnother(): Promise<void> {
    const server = await listen(handler);
    more.set(portOf(server), server);
    response.end(`http://127.0.0.1:${portOf(server)}`);
  }
  async function stopAnother(port: number): Promise<void> {
    const server = more.get(port);
    if (server) await stop(server);
    more.delete(port);
    response.end();
  }
}

async function listen(handler: Handler): Promise<Server> {
  const server = createServer(handler);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

async function stop(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  all: Map<string, Stats>,
  otherOrigin: string,
  folders: readonly string[],
): Promise<void> {
  for (const [name, value] of Object.entries(kCors)) response.setHeader(name, value);
  const [id = '', behaviour = '', ...rest] = new URL(request.url!, 'http://x').pathname.slice(1).split('/');
  if (id === 'stats') {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(statsOf(all, behaviour)));
    return;
  }
  if (request.method === 'OPTIONS') {
    response.writeHead(behaviour === 'no-preflight' ? 403 : 204).end();
    return;
  }
  const stats = statsOf(all, id);
  if (request.method === 'HEAD') stats.heads += 1;
  else stats.requests.push(request.headers.range ?? '');
  stats.open += 1;
  response.once('close', () => (stats.open -= 1));
  const name = decodeURIComponent(rest.join('/'));
  const onDisk = await Promise.all(folders.map((folder) => diskFile(folder, name)));
  const file = virtualFile(name) ?? onDisk.find((found) => found !== undefined);
  const behave = behaviours[behaviour];
  if (!file || !behave) {
    response.writeHead(404).end('no such file');
    return;
  }
  await behave({ request, response, file, stats, otherOrigin });
}

function statsOf(all: Map<string, Stats>, id: string): Stats {
  let stats = all.get(id);
  if (!stats) all.set(id, (stats = { requests: [], heads: 0, bytes: 0, open: 0 }));
  return stats;
}
