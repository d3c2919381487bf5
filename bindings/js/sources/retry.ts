import { EmbeddingError } from '../errors.js';
import { delay } from './abort.js';

/** How patient a network source is. */
export interface RetryOptions {
  /** Failures in a row, without a new byte between them, after which a read gives up. Default 5. */
  retries?: number;
  /** Milliseconds before the first repetition; doubled each time, with jitter. Default 500. */
  retryDelay?: number;
  /** Milliseconds without a single byte after which a request counts as failed. Default 30 000. */
  stallTimeout?: number;
}

// Waiting longer than this without a word to the user is worse than an error that says how long to wait.
const kLongestWait = 120_000;
const kLongestBackOff = 15_000;
// Before the first answer a wrong address or a missing network is likelier than a hiccup.
const kRetriesBeforeFirstAnswer = 2;

/** A failure that may pass: `error` is what is thrown when patience runs out. */
export class Transient extends Error {
  constructor(
    readonly error: EmbeddingError,
    /** Milliseconds that the server asked for (Retry-After). */
    readonly retryAfter?: number,
  ) {
    super(error.message);
  }
}

/** Counts the failures of one read and waits between its attempts. */
export class Attempts {
  #failures = 0;

  constructor(private readonly options: RetryOptions) {}

  /** A new byte arrived: the next failure is a first one again. */
  progress(): void {
    this.#failures = 0;
  }

  /** Waits before the next attempt; throws where `failure` is final. */
  async again(failure: unknown, answeredBefore: boolean, signal?: AbortSignal): Promise<void> {
    if (!(failure instanceof Transient)) throw failure;
    const { retries = 5, retryDelay = 500 } = this.options;
    const most = answeredBefore ? retries : Math.min(retries, kRetriesBeforeFirstAnswer);
    if (this.#failures >= most) throw failure.error;
    const backOff = Math.min(retryDelay * 2 ** this.#failures, kLongestBackOff);
    this.#failures += 1;
    const wait = Math.max(failure.retryAfter ?? 0, backOff * (0.5 + Math.random() / 2));
    if (wait > kLongestWait) throw failure.error;
    await delay(wait, signal);
  }
}

/** Milliseconds of a Retry-After header (seconds or a date); undefined where it is absent or unreadable. */
export function parseRetryAfter(value: string | null, now = Date.now()): number | undefined {
  if (value === null) return undefined;
  const seconds = /^\s*\d+\s*$/.test(value) ? Number(value) * 1000 : Date.parse(value) - now;
  return Number.isFinite(seconds) ? Math.max(0, seconds) : undefined;
}
