/** The main thread's side of one worker: calls that settle, whatever happens to the worker. */
import { EmbeddingError } from '../errors.js';
import { nodeModule } from '../sources/node.js';
import type { Answer, AnswerOf, Failure, Operation, RequestOf } from './protocol.js';

/** What a web Worker and Node's have in common, once the differences are gone. */
interface Port {
  post(message: unknown, transfer: ArrayBuffer[]): void;
  terminate(): void;
  /** Node: whether the process stays alive for it. */
  keepAlive(busy: boolean): void;
}

interface Listener {
  message(answer: Answer): void;
  failed(reason: string): void;
}

interface Pending {
  resolve(answer: unknown): void;
  reject(reason: unknown): void;
  progress: ((bytes: number) => void) | undefined;
}

export class WorkerThread {
  readonly #pending = new Map<number, Pending>();
  #calls = 0;
  #ended: Error | undefined;
  #port: Port | undefined;

  /** `url`: of the worker's file; the package's own where it is left out. */
  static async start(url?: string | URL): Promise<WorkerThread> {
    const thread = new WorkerThread();
    const listener: Listener = {
      message: (answer) => thread.#settle(answer),
      failed: (reason) => {
        thread.#end(
          new EmbeddingError('worker', `A worker of this model ended: ${reason}; load the model again.`),
        );
      },
    };
    thread.#port = typeof Worker === 'function' ? webPort(url, listener) : await nodePort(url, listener);
    return thread;
  }

  /** Buffers in `transfer` are gone afterwards. `progress` hears of bytes that were read. */
  call<O extends Operation>(
    operation: O,
    request: RequestOf<O>,
    transfer: ArrayBuffer[] = [],
    progress?: (bytes: number) => void,
  ): Promise<AnswerOf<O>> {
    if (this.#ended) return Promise.reject(this.#ended);
    return new Promise((resolve, reject) => {
      const call = this.#calls++;
      this.#pending.set(call, { resolve, reject, progress });
      this.#port!.keepAlive(true);
      this.#port!.post({ call, operation, request }, transfer);
    });
  }

  /** Ends the worker and frees its memory. Calls that wait are rejected. */
  dispose(): void {
    this.#end(new EmbeddingError('disposed', 'This model was disposed of: load it again.'));
  }

  #settle(answer: Answer): void {
    const pending = this.#pending.get(answer.call);
    if ('progress' in answer) {
      pending?.progress?.(answer.progress);
      return;
    }
    this.#pending.delete(answer.call);
    if (this.#pending.size === 0) this.#port!.keepAlive(false);
    if ('failure' in answer) pending?.reject(toError(answer.failure));
    else pending?.resolve(answer.answer);
  }

  #end(reason: Error): void {
    if (this.#ended) return;
    this.#ended = reason;
    this.#port?.terminate();
    for (const { reject } of this.#pending.values()) reject(reason);
    this.#pending.clear();
  }
}

function toError({ kind, code, message }: Failure): Error {
  if (kind === 'TypeError') return new TypeError(message);
  if (kind === 'RangeError') return new RangeError(message);
  return new EmbeddingError(code, message);
}

// Bundlers find the worker's file by this expression.
function webPort(url: string | URL | undefined, listener: Listener): Port {
  const worker =
    url === undefined
      ? new Worker(new URL('./worker.js', import.meta.url), { type: 'module' })
      : new Worker(url, { type: 'module' });
  worker.onmessage = ({ data }) => listener.message(data as Answer);
  worker.onmessageerror = () => listener.failed('a message could not be read');
  worker.onerror = (event) => {
    event.preventDefault();
    listener.failed(event.message || 'its file could not be loaded');
  };
  return {
    post: (message, transfer) => worker.postMessage(message, transfer),
    terminate: () => worker.terminate(),
    keepAlive: () => undefined,
  };
}

async function nodePort(url: string | URL | undefined, listener: Listener): Promise<Port> {
  const threads = await nodeModule<typeof import('node:worker_threads')>('node:worker_threads');
  const worker = new threads.Worker(new URL(url ?? './worker.js', import.meta.url));
  worker.on('message', (answer: Answer) => listener.message(answer));
  worker.on('messageerror', (error) => listener.failed(error.message));
  worker.on('error', (error) => listener.failed(error instanceof Error ? error.message : String(error)));
  worker.on('exit', (code) => listener.failed(`it exited with code ${code}`));
  return {
    post: (message, transfer) => worker.postMessage(message, transfer),
    terminate: () => void worker.terminate(),
    keepAlive: (busy) => (busy ? worker.ref() : worker.unref()),
  };
}
