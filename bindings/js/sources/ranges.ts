/** Several ranges of one file: in one request where the server takes that, else in a few parallel ones. */
import { compareVersions } from './answer.js';
import type { HttpFile } from './http_file.js';
import { readMultipart } from './multipart.js';
import { Transient } from './retry.js';
import type { Range } from './source.js';

// More parts than this in one request, and servers suspect an attack (Apache's limit is 200).
const kPartsPerRequest = 50;

export class RangeReader {
  // Until the server shows that it answers several ranges with something else.
  #multipart = true;

  constructor(private readonly file: HttpFile) {}

  /** The ranges in order; those that did not come in one answer are read by `readOne`, `parallel` at a time. */
  async read(
    ranges: readonly Range[],
    readOne: (range: Range) => Promise<Uint8Array>,
    parallel: () => number,
    signal?: AbortSignal,
  ): Promise<Uint8Array[]> {
    const parts: Uint8Array[] = [];
    for (let i = 0; i < ranges.length; i += kPartsPerRequest) {
      const some = ranges.slice(i, i + kPartsPerRequest);
      parts.push(...((await this.#inOneRequest(some, signal)) ?? (await each(some, readOne, parallel()))));
    }
    return parts;
  }

  async #inOneRequest(ranges: readonly Range[], signal?: AbortSignal): Promise<Uint8Array[] | undefined> {
    if (ranges.length < 3 || !this.#multipart) return undefined;
    const list = ranges.map(({ start, end }) => `${start}-${end - 1}`).join(',');
    try {
      const connection = await this.file.send(`bytes=${list}`, signal);
      try {
        const parts = await readMultipart(connection, ranges, (validators) =>
          compareVersions(this.file.url, this.file.validators ?? {}, validators),
        );
        this.#multipart = parts !== undefined;
        return parts;
      } finally {
        this.file.drop(connection);
      }
    } catch (failure) {
      if (!(failure instanceof Transient)) throw failure;
      // Unlike one range, several are never CORS-safelisted: it may be the preflight that failed.
      this.#multipart = false;
      return undefined;
    }
  }
}

async function each(
  ranges: readonly Range[],
  readOne: (range: Range) => Promise<Uint8Array>,
  parallel: number,
): Promise<Uint8Array[]> {
  const parts = new Array<Uint8Array>(ranges.length);
  let next = 0;
  const work = async (): Promise<void> => {
    for (let i = next++; i < ranges.length; i = next++) parts[i] = await readOne(ranges[i]!);
  };
  await Promise.all(Array.from({ length: Math.min(parallel, ranges.length) }, work));
  return parts;
}
