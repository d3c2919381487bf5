/**
 * The first request for a file. It asks for the first 32 KiB and learns from the answer what the server can do:
 *
 *   206             ranges work: every read is a request for exactly its bytes
 *   200             ranges are ignored: the response is read forwards
 *   200, no length  (or a compressed body) the size shows only at the end: the file is taken into memory
 *   no answer       some hosts fail the CORS preflight that a Range header may cause: tried once without it
 */
import { EmbeddingError } from '../errors.js';
import { isEncoded, unsatisfiedSize } from './answer.js';
import type { Answer } from './answer.js';
import type { Connection } from './connection.js';
import { ForwardReader } from './forward.js';
import type { Answered, HttpFile } from './http_file.js';
import { Prefix } from './prefix.js';
import { Transient } from './retry.js';
import { brokenOff, webPage } from './status.js';

export interface Probed {
  size: number;
  /** The first bytes, as far as they are known. */
  prefix: Prefix;
  /** Set where the server ignores ranges. */
  forward?: ForwardReader;
  /** Set where the whole file had to be taken into memory. */
  spool?: Blob;
}

const kProbeBytes = 32 * 1024;
// What a server without ranges lets a reader look at twice.
const kForwardPrefixBytes = 4 << 20;
// A file of unknown size has to be taken into memory; beyond this it would not fit.
const kSpoolLimit = 2 ** 31;

/** One attempt; fails as Transient where another may succeed. Sets the file's validators. */
export async function probe(file: HttpFile, ranges: boolean, signal?: AbortSignal): Promise<Probed> {
  file.validators = undefined;
  const { connection, answer } = ranges ? await askForRange(file, signal) : await file.get(undefined, signal);
  if (answer === undefined) {
    file.validators = { size: 0 };
    return { size: 0, prefix: new Prefix(0) };
  }
  if (answer.whole) return probeForward(file, connection, answer, signal);
  return probeRange(file, connection, answer, signal);
}

type MaybeEmpty = Answered | { connection: Connection; answer: undefined };

async function askForRange(file: HttpFile, signal?: AbortSignal): Promise<MaybeEmpty> {
  let connection: Connection;
  try {
    connection = await file.send(`bytes=0-${kProbeBytes - 1}`, signal);
  } catch (failure) {
    if (!(failure instanceof Transient) || failure.error.code !== 'network') throw failure;
    return file.get(undefined, signal);
  }
  const { response } = connection;
  // Parts of a compressed body cannot be put together.
  const useless = response.status === 416 || (response.status === 206 && isEncoded(response));
  if (!useless) return { connection, answer: file.check(connection, { start: 0, end: kProbeBytes }) };
  file.drop(connection);
  // No byte of an empty file can be asked for; any other 416 here is a server that cannot do ranges.
  if (unsatisfiedSize(response) === 0) return { connection, answer: undefined };
  return file.get(undefined, signal);
}

async function probeRange(
  file: HttpFile,
  connection: Connection,
  answer: Answer,
  signal?: AbortSignal,
): Promise<Probed> {
  const prefix = new Prefix(kProbeBytes);
  let at = answer.first;
  try {
    for (let chunk = await connection.next(); chunk; chunk = await connection.next()) {
      prefix.add(at, chunk);
      at += chunk.length;
    }
  } finally {
    file.drop(connection);
  }
  const size = answer.validators.size ?? (at < kProbeBytes ? at : await file.headSize(signal));
  // Neither Content-Range nor Content-Length can be read: only the whole file tells its size.
  if (size === undefined) return probe(file, false, signal);
  if (at < Math.min(answer.end ?? at, size)) throw new Transient(brokenOff(file.url, at));
  file.validators = { ...answer.validators, size };
  refusePage(file.url, prefix);
  return { size, prefix };
}

async function probeForward(
  file: HttpFile,
  connection: Connection,
  answer: Answer,
  signal?: AbortSignal,
): Promise<Probed> {
  const prefix = new Prefix(kForwardPrefixBytes);
  const forward = new ForwardReader(file, prefix);
  file.validators = answer.validators;
  forward.start(connection);
  const { size } = answer.validators;
  if (size === undefined) return takeIntoMemory(file, forward, prefix, signal);
  await readThrough(forward, Math.min(64, size), signal);
  refusePage(file.url, prefix, () => file.drop(connection));
  return { size, prefix, forward };
}

async function readThrough(forward: ForwardReader, end: number, signal?: AbortSignal): Promise<void> {
  const chunks = forward.read(0, end, signal)[Symbol.asyncIterator]();
  while (!(await chunks.next()).done);
}

async function takeIntoMemory(
  file: HttpFile,
  forward: ForwardReader,
  prefix: Prefix,
  signal?: AbortSignal,
): Promise<Probed> {
  const parts: Blob[] = [];
  let size = 0;
  for await (const chunk of forward.read(0, Infinity, signal)) {
    parts.push(new Blob([chunk as Uint8Array<ArrayBuffer>]));
    size += chunk.length;
    refusePage(file.url, prefix);
    if (size > kSpoolLimit) throw tooLong(file.url);
  }
  file.validators = { ...file.validators, size };
  return { size, prefix: new Prefix(0), spool: new Blob(parts) };
}

function tooLong(url: string): EmbeddingError {
  return new EmbeddingError(
    'limit',
    `${url} is sent without its size and is longer than 2 GiB: download it and load it from disk.`,
  );
}

/** Throws where the first bytes are those of a web page: servers give pages any content type. */
function refusePage(url: string, prefix: Prefix, close?: () => void): void {
  const text = new TextDecoder().decode(prefix.slice(0, 64)).trimStart().toLowerCase();
  if (!text.startsWith('<!doctype html') && !text.startsWith('<html')) return;
  close?.();
  throw webPage(url);
}
