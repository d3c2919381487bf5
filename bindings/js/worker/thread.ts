/** The main thread's side of one worker: calls that settle, whatever happens to the worker. */
import { EmbeddingError } from '../errors.js';
import { hasFileSystem, nodeModule } from '../sources/node.js';
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
        thread.#end(new EmbeddingError('worker', `A worker of this model ended: ${reason}.`));
      },
    };
    thread.#port = await (typeof Worker === 'function' ? webPort(url, listener) : nodePort(url, listener));
    if (thread.#ended) thread.#port.terminate();
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

async function webPort(url: string | URL | undefined, listener: Listener): Promise<Port> {
  const worker = await webWorker(url);
  let runs = false;
  worker.onmessage = ({ data }) => {
    runs = true;
    listener.message(data as Answer);
  };
  worker.onmessageerror = () => listener.failed('a message could not be read; load the model again');
  worker.onerror = (event) => {
    event.preventDefault();
    // Browsers say little or nothing about a file that is missing, is a web page, or may not be run.
    const why = event.message ? ` (${event.message})` : '';
    listener.failed(runs ? event.message : `${addressOf(url)} could not be run${why}; ${kServeIt}`);
  };
  return {
    post: (message, transfer) => worker.postMessage(message, transfer),
    terminate: () => worker.terminate(),
    keepAlive: () => undefined,
  };
}

const kServeIt =
  'serve the package’s worker.js from the page’s own origin and give its address as the option "worker"';

// Bundlers find the worker's file by the expression with import.meta.url.
function webWorker(url: string | URL | undefined): Promise<Worker> {
  return started(url, async () => {
    const elsewhere = ofAnotherOrigin(url ?? import.meta.url);
    if (elsewhere) return fetchedWorker(url === undefined ? besidePackage(elsewhere) : elsewhere);
    if (url !== undefined) return new Worker(url, { type: 'module' });
    return new Worker(new URL('./worker.js', import.meta.url), { type: 'module' });
  });
}

/** The address, where it is of another origin than the page: a package that is loaded from a CDN. */
function ofAnotherOrigin(url: string | URL): string | undefined {
  const { location } = globalThis as { location?: Location };
  if (location === undefined || hasFileSystem()) return undefined;
  const { href, origin, protocol } = new URL(url, location.href);
  return /^https?:$/.test(protocol) && origin !== location.origin ? href : undefined;
}

function besidePackage(module: string): string {
  return module.replace(/[^/]*$/, 'worker.js');
}

/** A worker may not be a script of another origin, but it may be one that was fetched from there: it needs no other file. */
async function fetchedWorker(href: string): Promise<Worker> {
  let script = scripts.get(href);
  if (script === undefined) {
    scripts.set(href, (script = fetchScript(href)));
    script.catch(() => scripts.delete(href)); // the next load tries again
  }
  return new Worker(await script, { type: 'module' });
}

const scripts = new Map<string, Promise<string>>();

async function fetchScript(href: string): Promise<string> {
  const response = await fetch(href);
  if (!response.ok) throw new Error(`the server answered with status ${response.status}`);
  return URL.createObjectURL(new Blob([await response.text()], { type: 'text/javascript' }));
}

/** A file that cannot be fetched, or a worker that the page's content security policy forbids, shows at once. */
async function started<T>(url: string | URL | undefined, start: () => T | Promise<T>): Promise<T> {
  try {
    return await start();
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const message = `${addressOf(url)} cannot be started (${reason}): ${kServeIt}.`;
    throw new EmbeddingError('worker', message, { cause });
  }
}

function addressOf(url: string | URL | undefined): string {
  return String(url ?? 'The worker’s file').slice(0, 200);
}

/** What a worker reads passes through its heap as short-lived chunks: a small young generation keeps few of them. */
const kLimits = { maxYoungGenerationSizeMb: 3 };

async function nodePort(url: string | URL | undefined, listener: Listener): Promise<Port> {
  const threads = await nodeModule<typeof import('node:worker_threads')>('node:worker_threads');
  const file = new URL(url ?? './worker.js', import.meta.url);
  const worker = await started(url, () => new threads.Worker(file, { resourceLimits: kLimits }));
  worker.on('message', (answer: Answer) => listener.message(answer));
  worker.on('messageerror', (error) => listener.failed(error.message));
  worker.on('error', (error) => listener.failed(error instanceof Error ? error.message : String(error)));
  worker.on('exit', (code) => listener.failed(`it exited with code ${code}; load the model again`));
  return {
    post: (message, transfer) => worker.postMessage(message, transfer),
    terminate: () => void worker.terminate(),
    keepAlive: (busy) => (busy ? worker.ref() : worker.unref()),
  };
}
