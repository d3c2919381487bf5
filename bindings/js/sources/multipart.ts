/**
 * Bodies of type multipart/byteranges (RFC 9110, section 14.6): the answer to a request for several ranges.
 *
 *   --boundary CRLF
 *   Content-Range: bytes 0-99/1000 CRLF CRLF  100 bytes CRLF
 *   --boundary CRLF  …  --boundary--
 */
import { parseContentRange } from './answer.js';
import type { Validators } from './answer.js';
import type { Connection } from './connection.js';
import type { Range } from './source.js';

interface Part {
  start: number;
  bytes: Uint8Array;
}

// Headers of a part are a few short lines.
const kHeaderBytesPerPart = 1024;

/**
 * The wanted ranges, in order; undefined where the server answered with anything else. `check` is called with the
 * answer's validators before a byte is used.
 */
export async function readMultipart(
  connection: Connection,
  ranges: readonly Range[],
  check: (validators: Validators) => void,
): Promise<Uint8Array[] | undefined> {
  const { response } = connection;
  const type = response.headers.get('content-type') ?? '';
  const boundary = /^multipart\/byteranges\s*;.*boundary="?([^";]+)"?/i.exec(type)?.[1];
  if (response.status !== 206 || boundary === undefined) return undefined;
  const body = await readBody(connection, ranges);
  if (body === undefined) return undefined;
  const { parts, size } = splitParts(body, boundary);
  check({
    size,
    etag: response.headers.get('etag') ?? undefined,
    lastModified: response.headers.get('last-modified') ?? undefined,
  });
  const found = ranges.map((range) => findRange(parts, range));
  return found.every((bytes) => bytes !== undefined) ? found : undefined;
}

async function readBody(connection: Connection, ranges: readonly Range[]): Promise<Uint8Array | undefined> {
  const limit = ranges.reduce((sum, { start, end }) => sum + end - start + kHeaderBytesPerPart, 0);
  const body = new Uint8Array(limit);
  let length = 0;
  for (let chunk = await connection.next(); chunk; chunk = await connection.next()) {
    if (length + chunk.length > limit) return undefined;
    body.set(chunk, length);
    length += chunk.length;
  }
  return body.subarray(0, length);
}

/** The parts of a body, as far as they are complete. */
export function splitParts(body: Uint8Array, boundary: string): { parts: Part[]; size?: number } {
  const parts: Part[] = [];
  let size: number | undefined;
  let at = 0;
  while (true) {
    const headerEnd = indexOfBlankLine(body, at);
    if (headerEnd < 0) break;
    const header = new TextDecoder().decode(body.subarray(at, headerEnd));
    const line = /^content-range:(.*)$/im.exec(header)?.[1];
    const range = parseContentRange(line?.trim() ?? null);
    if (!range || !header.includes(`--${boundary}`)) break;
    const start = headerEnd + 4;
    const end = start + range.end - range.start;
    if (end > body.length) break;
    parts.push({ start: range.start, bytes: body.subarray(start, end) });
    size = range.size;
    at = end;
  }
  return { parts, size };
}

function indexOfBlankLine(body: Uint8Array, from: number): number {
  const last = Math.min(body.length - 4, from + kHeaderBytesPerPart);
  for (let i = from; i <= last; i += 1) {
    if (body[i] === 13 && body[i + 1] === 10 && body[i + 2] === 13 && body[i + 3] === 10) return i;
  }
  return -1;
}

/** A server may join ranges that lie close together: the wanted one is then inside a part. */
function findRange(parts: readonly Part[], { start, end }: Range): Uint8Array | undefined {
  const part = parts.find((it) => it.start <= start && end <= it.start + it.bytes.length);
  return part?.bytes.slice(start - part.start, end - part.start);
}
