/**
 * Reads the headers of an answer to a (possibly ranged) GET: which bytes of the file the body holds, how long the
 * file is, and which version of it this is.
 */
import { EmbeddingError } from '../errors.js';
import type { Range } from './source.js';
import { changed, refuseStatus, webPage, wrongRange } from './status.js';

/** What identifies a version of a file; every field is absent where the server (or CORS) hides it. */
export interface Validators {
  etag?: string;
  lastModified?: string;
  size?: number;
}

export interface Answer {
  /** Offset in the file of the body's first byte. */
  first: number;
  /** Offset after the body's last byte, where it is known. */
  end: number | undefined;
  /** True for an answer of 200: the whole file comes, whatever was asked for. */
  whole: boolean;
  validators: Validators;
}

interface ContentRange {
  start: number;
  end: number;
  size: number | undefined;
}

/** `bytes 0-99/1000` → { start: 0, end: 100, size: 1000 }; undefined where it is absent or malformed. */
export function parseContentRange(value: string | null): ContentRange | undefined {
  const match = /^\s*bytes\s+(\d+)-(\d+)\/(\d+|\*)\s*$/i.exec(value ?? '');
  if (!match) return undefined;
  const size = match[3] === '*' ? undefined : Number(match[3]);
  return { start: Number(match[1]), end: Number(match[2]) + 1, size };
}

/** Size from the `bytes * /1000` of a 416 answer. */
export function unsatisfiedSize(response: Response): number | undefined {
  const match = /^\s*bytes\s+\*\/(\d+)\s*$/i.exec(response.headers.get('content-range') ?? '');
  return match ? Number(match[1]) : undefined;
}

/** Throws for an answer that is not the file; `wanted` is the range that was asked for, if any. */
export function readAnswer(url: string, response: Response, wanted: Range | undefined): Answer {
  if (response.status !== 200 && response.status !== 206) refuseStatus(url, response);
  if (/^text\/html/i.test(response.headers.get('content-type') ?? '')) throw webPage(url);
  const validators: Validators = {};
  const etag = response.headers.get('etag');
  const lastModified = response.headers.get('last-modified');
  if (etag !== null) validators.etag = etag;
  if (lastModified !== null) validators.lastModified = lastModified;
  if (response.status === 206) return partialAnswer(url, response, wanted, validators);
  validators.size = contentLength(response);
  return { first: 0, end: validators.size, whole: true, validators };
}

function partialAnswer(
  url: string,
  response: Response,
  wanted: Range | undefined,
  validators: Validators,
): Answer {
  if (isEncoded(response)) {
    throw new EmbeddingError(
      'http',
      `${url} compresses parts of the file (content-encoding): they cannot be put together; try \`range: false\`.`,
    );
  }
  const header = response.headers.get('content-range');
  const range = parseContentRange(header);
  if (range) {
    const { start, end, size } = range;
    if (wanted && (start > wanted.start || end <= wanted.start)) {
      throw wrongRange(url, `${wanted.start}-${wanted.end - 1}`, `${start}-${end - 1}`);
    }
    validators.size = size;
    return { first: start, end, whole: false, validators };
  }
  return hiddenRange(url, response, wanted, validators);
}

/**
 * Content-Range is not CORS-safelisted: a page often cannot read it. Then the length must be right, or the bytes
 * could be any bytes of the file.
 */
function hiddenRange(
  url: string,
  response: Response,
  wanted: Range | undefined,
  validators: Validators,
): Answer {
  const length = contentLength(response);
  const want = wanted ? wanted.end - wanted.start : 0;
  const range = wanted ? `${wanted.start}-${wanted.end - 1}` : 'all';
  // A file may end before the first range does, which is asked for before its size is known.
  const short = wanted?.start === 0 && length !== undefined && length < want;
  if (!wanted || (length !== undefined && length !== want && !short)) {
    throw wrongRange(url, range, `${length} bytes without saying which`);
  }
  if (short) validators.size = length;
  return { first: wanted.start, end: short ? length : wanted.end, whole: false, validators };
}

/** Throws `changed` where two answers cannot be of the same version of the file. */
export function compareVersions(url: string, before: Validators, now: Validators): void {
  const etags = before.etag !== undefined && now.etag !== undefined;
  if (etags && strong(before.etag!) !== strong(now.etag!)) {
    throw changed(url, `ETag ${before.etag} became ${now.etag}`);
  }
  const dates = before.lastModified !== undefined && now.lastModified !== undefined;
  if (!etags && dates && before.lastModified !== now.lastModified) {
    throw changed(url, `its date ${before.lastModified} became ${now.lastModified}`);
  }
  if (before.size !== undefined && now.size !== undefined && before.size !== now.size) {
    throw changed(url, `its size ${before.size} became ${now.size}`);
  }
}

// A server may weaken the tag of a partial answer; the opaque part is what names the version.
function strong(etag: string): string {
  return etag.replace(/^W\//, '');
}

/** Content-Length, where it counts the bytes that arrive (not those of a compressed body). */
export function contentLength(response: Response): number | undefined {
  const value = response.headers.get('content-length');
  if (value === null || isEncoded(response) || !/^\d+$/.test(value)) return undefined;
  return Number(value);
}

export function isEncoded(response: Response): boolean {
  const encoding = response.headers.get('content-encoding');
  return encoding !== null && encoding.trim().toLowerCase() !== 'identity';
}
