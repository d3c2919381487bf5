/**
 * The file that a worker runs: a browser's, Deno's, Bun's, or one of Node's worker_threads. It holds everything it
 * needs, but for the compiled module, which comes with the first message.
 */
import { nodeModule } from './sources/node.js';
import type { Request } from './worker/protocol.js';
import { ShardServer } from './worker/shard.js';

interface WebScope {
  postMessage(message: unknown, transfer: ArrayBuffer[]): void;
  onmessage: ((event: { data: Request }) => void) | null;
}

// In a browser the handler must be there before the file has run to its end, or messages get lost.
if ('WorkerGlobalScope' in globalThis) {
  const scope = globalThis as unknown as WebScope;
  const server = new ShardServer((answer, transfer) => scope.postMessage(answer, transfer));
  scope.onmessage = ({ data }) => void server.receive(data);
} else {
  void serveParentPort();
}

async function serveParentPort(): Promise<void> {
  const { parentPort } = await nodeModule<typeof import('node:worker_threads')>('node:worker_threads');
  const server = new ShardServer((answer, transfer) => parentPort!.postMessage(answer, transfer));
  parentPort!.on('message', (request: Request) => void server.receive(request));
}
