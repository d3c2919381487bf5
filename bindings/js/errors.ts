/**
 * Everything that id2vec throws, apart from the built-in `TypeError` and `RangeError` (wrong arguments) and the
 * reason of an aborted signal. `code` is for programs, `message` is one sentence for people: what happened,
 * where, and what to do about it.
 *
 * Codes of the core: `truncated`, `malformed`, `unsupported`, `limit`, `not-found`, `ambiguous`, `out-of-memory`.
 * Codes of the sources: `network` (no answer), `http` (an answer that is no use), `html` (a web page instead of
 * the file), `not-found`, `forbidden` (401 and 403), `changed` (the file is another one than a moment ago),
 * `stalled` (no byte for too long), `integrity` (wrong SHA-256), `offline` (not in the cache, and no network
 * allowed), `unsupported` (no such thing in this runtime).
 */
export class EmbeddingError extends Error {
  readonly code: string;

  constructor(code: string, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'EmbeddingError';
    this.code = code;
  }
}
