/** Requests for one URL: sends them, checks that every answer is of the same version of the file, closes them. */
import { compareVersions, readAnswer, unsatisfiedSize } from './answer.js';
import type { Answer, Validators } from './answer.js';
import { truncated } from './checks.js';
import { Connection } from './connection.js';
import type { Client } from './connection.js';
import type { Range } from './source.js';

export interface Answered {
  connection: Connection;
  answer: Answer;
}

export class HttpFile {
  readonly url: string;
  /** Of the version that is being read; undefined before the first answer. */
  validators: Validators | undefined;
  readonly #open = new Set<Connection>();

  constructor(
    readonly target: string | Request,
    readonly client: Client,
  ) {
    this.url = typeof target === 'string' ? target : target.url;
  }

  /** A GET of `wanted`, or of the whole file; the answer may still hold more than was asked for. */
  async get(wanted: Range | undefined, signal?: AbortSignal): Promise<Answered> {
    const range = wanted && `bytes=${wanted.start}-${wanted.end - 1}`;
    const connection = await this.send(range, signal);
    return { connection, answer: this.check(connection, wanted) };
  }

  /** Content-Length of a HEAD: CORS-safelisted, unlike Content-Range. Undefined where it cannot be had. */
  async headSize(signal?: AbortSignal): Promise<number | undefined> {
    try {
      const connection = await this.send(undefined, signal, 'HEAD');
      const { validators } = this.check(connection, undefined);
      this.drop(connection);
      return validators.size;
    } catch {
      signal?.throwIfAborted();
      return undefined;
    }
  }

  /** Throws, and closes the connection, where its answer is no use or of another version. */
  check(connection: Connection, wanted: Range | undefined): Answer {
    try {
      const { response } = connection;
      if (response.status === 416 && wanted) this.#refuseRange(response, wanted);
      const answer = readAnswer(this.url, response, wanted);
      compareVersions(this.url, this.validators ?? {}, answer.validators);
      return answer;
    } catch (error) {
      this.drop(connection);
      throw error;
    }
  }

  async send(range: string | undefined, signal?: AbortSignal, method = 'GET'): Promise<Connection> {
    const headers = new Headers(typeof this.target === 'string' ? undefined : this.target.headers);
    this.client.headers.forEach((value, key) => headers.set(key, value));
    // Offsets count bytes of the file, not of its compressed form. Browsers ignore the header (and see to it
    // themselves where there is a Range).
    headers.set('accept-encoding', 'identity');
    if (range !== undefined) headers.set('range', range);
    const init = withoutHttpCache({ method, headers });
    const connection = await Connection.open(this.client, this.target, init, signal);
    this.#open.add(connection);
    return connection;
  }

  drop(connection: Connection): void {
    connection.close();
    this.#open.delete(connection);
  }

  close(): void {
    for (const connection of this.#open) connection.close();
    this.#open.clear();
  }

  #refuseRange(response: Response, wanted: Range): never {
    const size = unsatisfiedSize(response);
    compareVersions(this.url, this.validators ?? {}, { size });
    throw truncated(this.url, wanted.start, wanted.end, size ?? wanted.start);
  }
}

/**
 * Chromium keeps ranges in its HTTP cache and can then break a following full request. Runtimes without an HTTP
 * cache may refuse the option (workerd).
 */
function withoutHttpCache(init: RequestInit): RequestInit {
  return 'cache' in Request.prototype ? { ...init, cache: 'no-store' } : init;
}
