/**
 * Reads a file whose server ignores Range: one response holds the whole file and is read forwards. It is kept
 * between reads, so that ascending reads cost one download; going back past what the prefix holds costs another.
 */
import type { Connection } from './connection.js';
import type { HttpFile } from './http_file.js';
import type { Prefix } from './prefix.js';
import { Transient } from './retry.js';
import { brokenOff } from './status.js';

interface Kept {
  connection: Connection;
  at: number;
  /** The part of the last chunk that nobody wanted yet. */
  rest: Uint8Array;
}

export class ForwardReader {
  #kept: Kept | undefined;

  constructor(
    private readonly file: HttpFile,
    private readonly prefix: Prefix,
  ) {}

  /** Takes over a response that holds the whole file and of which nothing was read yet. */
  start(connection: Connection): void {
    this.#keep({ connection, at: 0, rest: new Uint8Array(0) });
  }

  /** Bytes [start, end); to the end of the body where `end` is Infinity. Fails as Transient where it breaks off. */
  async *read(start: number, end: number, signal?: AbortSignal): AsyncIterable<Uint8Array> {
    const kept = await this.#take(start, signal);
    let usable = false;
    try {
      while (kept.at < end) {
        if (kept.rest.length === 0 && !(await this.#advance(kept))) {
          if (end === Infinity) return;
          throw new Transient(brokenOff(this.file.url, kept.at));
        }
        const part = kept.rest.subarray(0, end - kept.at);
        const wanted = part.subarray(Math.max(0, start - kept.at));
        kept.rest = kept.rest.subarray(part.length);
        kept.at += part.length;
        if (wanted.length > 0) yield wanted;
      }
      usable = true;
    } finally {
      if (usable && !this.#kept && kept.at < (this.file.validators?.size ?? 0)) this.#keep(kept);
      else this.file.drop(kept.connection);
    }
  }

  async #advance(kept: Kept): Promise<boolean> {
    const chunk = await kept.connection.next();
    if (!chunk) return false;
    this.prefix.add(kept.at, chunk);
    kept.rest = chunk;
    return true;
  }

  async #take(start: number, signal?: AbortSignal): Promise<Kept> {
    const kept = this.#kept;
    if (kept && kept.at <= start) {
      this.#kept = undefined;
      kept.connection.follow(signal);
      return kept;
    }
    const { connection, answer } = await this.file.get(undefined, signal);
    return { connection, at: answer.first, rest: new Uint8Array(0) };
  }

  // While it waits for its next read, the response belongs to nobody's signal.
  #keep(kept: Kept): void {
    kept.connection.follow(undefined);
    this.#kept = kept;
  }
}
