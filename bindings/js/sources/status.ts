import { EmbeddingError } from '../errors.js';
import { notFound } from './checks.js';
import { parseRetryAfter, Transient } from './retry.js';

// Answers that the same request may not get a second time.
const kPassing = new Set([408, 425, 429, 500, 502, 503, 504]);

/** Throws what an answer other than 200, 206 and 416 means. */
export function refuseStatus(url: string, response: Response): never {
  const { status } = response;
  if (status === 404 || status === 410) throw notFound(`${url} (status ${status})`);
  if (status === 401 || status === 403) {
    throw new EmbeddingError(
      'forbidden',
      `${url} answered ${status}: access is refused; pass a token in \`headers\`, or accept the model's terms ` +
        `on its page first.`,
    );
  }
  const error = new EmbeddingError('http', `${url} answered ${status}${hint(response)}.`);
  if (kPassing.has(status)) {
    throw new Transient(error, parseRetryAfter(response.headers.get('retry-after')));
  }
  throw error;
}

function hint(response: Response): string {
  const wait = parseRetryAfter(response.headers.get('retry-after'));
  if (response.status === 429) {
    return wait === undefined
      ? ', too many requests: try again later'
      : `, too many requests: try again in ${Math.ceil(wait / 1000)} s`;
  }
  if (response.status >= 500) return ', an error of the server: try again later';
  if (response.type === 'opaqueredirect') return ', a redirect that was not followed';
  return ', which is no file: check the address';
}

export function webPage(url: string): EmbeddingError {
  return new EmbeddingError(
    'html',
    `${url} answered with a web page instead of the file: check the address (a page about the file, or a log-in ` +
      `page, is often mistaken for it).`,
  );
}

export function unreachable(url: string, cause: unknown): EmbeddingError {
  const inner = (cause as { cause?: { code?: string } } | undefined)?.cause?.code;
  return new EmbeddingError(
    'network',
    `No answer from ${url}${inner ? ` (${inner})` : ''}: check the address and the network; in a browser, the ` +
      `host must also allow your page's origin (CORS).`,
    { cause },
  );
}

export function changed(url: string, what: string): EmbeddingError {
  return new EmbeddingError(
    'changed',
    `${url} changed while it was read (${what}): load it again to get the new version.`,
  );
}

export function wrongRange(url: string, wanted: string, got: string): EmbeddingError {
  return new EmbeddingError(
    'http',
    `${url} was asked for bytes ${wanted} and sent ${got}: the server or a proxy mishandles Range requests; ` +
      `try \`range: false\`.`,
  );
}

export function brokenOff(url: string, at: number): EmbeddingError {
  return new EmbeddingError(
    'network',
    `${url} broke off at byte ${at}, again and again: check the line, or try later.`,
  );
}
