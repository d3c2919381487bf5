/**
 * One request and its body: follows the caller's signal, times a stall, counts bytes, and always lets go of the
 * socket. Knows nothing of ranges or retries.
 */
import { EmbeddingError } from '../errors.js';
import { Transient } from './retry.js';
import { unreachable } from './status.js';

/** Counters that a source and its siblings share. */
export interface Counters {
  bytes: number;
  requests: number;
  retries: number;
  cached: number;
}

/** What all requests of a source and its siblings have in common. */
export interface Client {
  fetch: typeof fetch;
  headers: Headers;
  /** What is read from an answer is nobody else's. A caller's own `fetch` may give views of what it keeps. */
  ownsChunks: boolean;
  stallTimeout: number;
  counters: Counters;
}

export class Connection {
  readonly response: Response;
  readonly #watch: Watch;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  readonly #client: Client;

  private constructor(client: Client, response: Response, watch: Watch) {
    this.#client = client;
    this.response = response;
    this.#watch = watch;
    this.#reader = response.body?.getReader();
  }

  /** Sends the request and resolves with its headers; failures that may pass reject as Transient. */
  static async open(
    client: Client,
    target: string | Request,
    init: RequestInit,
    signal?: AbortSignal,
  ): Promise<Connection> {
    const url = typeof target === 'string' ? target : target.url;
    const watch = new Watch(url, client.stallTimeout, signal);
    client.counters.requests += 1;
    const response = await watch.run(() => {
      const complete = { ...init, signal: watch.signal };
      const answer =
        typeof target === 'string'
          ? client.fetch(target, complete)
          : client.fetch(new Request(target, complete));
      return answer.then((late) => watch.dropIfOver(late));
    });
    return new Connection(client, response, watch);
  }

  /** The next chunk; undefined at the end of the body. */
  async next(): Promise<Uint8Array | undefined> {
    if (!this.#reader) return undefined;
    const reader = this.#reader;
    const { value, done } = await this.#watch.run(() => reader.read());
    if (done) {
      this.#watch.release();
      return undefined;
    }
    this.#client.counters.bytes += value.length;
    return value;
  }

  /** Closes the request. Idempotent, and harmless after the end. */
  close(): void {
    this.#watch.release();
    this.#watch.abort();
    this.#reader?.cancel().catch(() => undefined);
  }

  /** From now on `signal` ends the request: a kept response passes from one read to the next. */
  follow(signal: AbortSignal | undefined): void {
    this.#watch.follow(signal);
  }
}

/** Ends a request when the caller's signal aborts or when nothing happens for too long. */
class Watch {
  readonly #controller = new AbortController();
  #caller: AbortSignal | undefined;
  #stalled = false;

  constructor(
    private readonly url: string,
    private readonly timeout: number,
    caller: AbortSignal | undefined,
  ) {
    this.follow(caller);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  follow(caller: AbortSignal | undefined): void {
    this.release();
    this.#caller = caller;
    if (caller?.aborted) this.abort();
    else caller?.addEventListener('abort', this.abort);
  }

  release(): void {
    this.#caller?.removeEventListener('abort', this.abort);
  }

  readonly abort = (): void => {
    this.#controller.abort(this.#caller?.reason);
  };

  /** Closes an answer that arrived after its request was given up. */
  dropIfOver(response: Response): Response {
    if (this.signal.aborted) response.body?.cancel().catch(() => undefined);
    return response;
  }

  /** Runs one step of the request against the clock. */
  async run<T>(step: () => Promise<T>): Promise<T> {
    this.#caller?.throwIfAborted();
    const timer = setTimeout(() => {
      this.#stalled = true;
      this.abort();
    }, this.timeout);
    try {
      // A custom fetch may not listen to its signal: do not wait for it.
      return await Promise.race([step(), this.#aborted()]);
    } catch (cause) {
      throw this.#failure(cause);
    } finally {
      clearTimeout(timer);
      this.#forget();
    }
  }

  #forget: () => void = () => undefined;

  #aborted(): Promise<never> {
    return new Promise((_, reject) => {
      const signal = this.#controller.signal;
      const abort = () => reject(signal.reason);
      if (signal.aborted) abort();
      signal.addEventListener('abort', abort);
      this.#forget = () => signal.removeEventListener('abort', abort);
    });
  }

  #failure(cause: unknown): unknown {
    this.release();
    if (this.#caller?.aborted) return this.#caller.reason;
    if (!this.#stalled) return new Transient(unreachable(this.url, cause));
    const seconds = this.timeout / 1000;
    return new Transient(
      new EmbeddingError(
        'stalled',
        `${this.url} sent nothing for ${seconds} s: the line or the server is stuck; try again.`,
      ),
    );
  }
}
