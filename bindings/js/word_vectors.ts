/**
 * Word vectors as people have them (GloVe and word2vec text, word2vec binary, fastText's `.vec`; gzip around them),
 * read in chunks of any size: rows leave as they come, tokens are kept to the end.
 */
import { EmbeddingError } from './errors.js';
import { createFullCore } from './full_core.js';
import type { FullCore } from './full_core.js';
import type { Handle } from './handle.js';
import type { ReadOptions, Source } from './sources/source.js';
import type { WasmOptions } from './wasm.js';

/** What decides whether a file is one of word vectors. */
const kHeadBytes = 64 * 1024;

/** The file that word vectors become: `header`, zeros up to `rowsOffset`, the rows, zeros up to `bytes`. */
export interface WordVectorLayout {
  rows: number;
  dim: number;
  /** Rows that were left out, because their token had one before. */
  skipped: number;
  header: Uint8Array;
  rowsOffset: number;
  bytes: number;
}

/** As the core answers it: the header lies at `address`. */
type StoredLayout = Omit<WordVectorLayout, 'header'> & { address: number; headerBytes: number };

/** A file of word vectors, recognised by its first line. */
export class WordVectorFile {
  private constructor(
    private readonly core: FullCore,
    private readonly source: Source,
    private readonly size: number,
  ) {}

  /** Undefined where the file is something else. */
  static async open(
    source: Source,
    options: WasmOptions & ReadOptions = {},
  ): Promise<WordVectorFile | undefined> {
    const size = await source.size(options.signal);
    const head = await readHead(source, size, options);
    if (head.length === 0) return undefined;
    const core = await createFullCore(options);
    const matches = core.memory.withScratch(head.length, (address) => {
      core.memory.write(address, head);
      return core.functions.isWordVectors(address, head.length);
    });
    return matches ? new WordVectorFile(core, source, size) : undefined;
  }

  /**
   * Reads the whole file. `write` gets the rows in order, as bytes of little-endian floats [n, d].
   * @param name what the file that they become calls its model
   * @throws {EmbeddingError} `malformed` (naming the line), `truncated`, `limit`
   */
  async read(
    name: string,
    write: (rows: Uint8Array) => Promise<void>,
    options: ReadOptions = {},
  ): Promise<WordVectorLayout> {
    const { functions, memory } = this.core;
    const reader = this.core.own(functions.makeWordVectorReader(), functions.deleteWordVectorReader);
    try {
      for await (const chunk of unzipped(this.source, this.size, options)) {
        this.#check(this.#feed(reader, chunk));
        await this.#takeRows(reader, write);
      }
      this.#check(functions.finishWords(reader.address));
      await this.#takeRows(reader, write);
      this.#check(functions.layOutWords(reader.address, name));
      const { address, headerBytes, ...layout } = this.core.answer<StoredLayout>(
        functions.wordLayout(reader.address),
      );
      return { ...layout, header: memory.bytes(address, headerBytes) };
    } finally {
      reader.delete();
    }
  }

  #feed(reader: Handle, chunk: Uint8Array): number {
    const { memory, functions } = this.core;
    return memory.withScratch(chunk.length, (address) => {
      memory.write(address, chunk);
      return functions.feedWords(reader.address, address, chunk.length);
    });
  }

  async #takeRows(reader: Handle, write: (rows: Uint8Array) => Promise<void>): Promise<void> {
    const { wordRows, wordRowsBytes, dropWordRows } = this.core.functions;
    const count = wordRowsBytes(reader.address);
    if (count === 0) return;
    const rows = this.core.memory.bytes(wordRows(reader.address), count);
    dropWordRows(reader.address);
    await write(rows);
  }

  // The core counts lines and knows no file.
  #check(code: number): void {
    if (code === 0) return;
    const failure = this.core.failure();
    if (!(failure instanceof EmbeddingError)) throw failure;
    throw new EmbeddingError(failure.code, `${this.source.label}: ${failure.message}`);
  }
}

async function readHead(source: Source, size: number, options: ReadOptions): Promise<Uint8Array> {
  const chunks = [];
  let length = 0;
  try {
    for await (const chunk of unzipped(source, Math.min(size, kHeadBytes), options)) {
      chunks.push(chunk.slice());
      length += chunk.length;
      if (length >= kHeadBytes) break;
    }
  } catch (error) {
    // The head of a gzip file ends in the middle of its data; what came out before counts.
    if (!(error instanceof EmbeddingError && error.code === 'malformed')) throw error;
  }
  const head = new Uint8Array(Math.min(length, kHeadBytes));
  let at = 0;
  for (const chunk of chunks) {
    const part = chunk.subarray(0, head.length - at);
    head.set(part, at);
    at += part.length;
  }
  return head;
}

const isGzip = (bytes: Uint8Array) => bytes[0] === 0x1f && bytes[1] === 0x8b;

/** The first `size` bytes of a file; what they inflate to where they are gzip. */
async function* unzipped(source: Source, size: number, options: ReadOptions): AsyncIterable<Uint8Array> {
  const start = await source.read(0, Math.min(size, 2), options);
  if (!isGzip(start)) {
    yield* source.stream(0, size, options);
    return;
  }
  const inflater = new DecompressionStream('gzip');
  const writing = pump(source.stream(0, size, options), inflater.writable.getWriter());
  const reader = inflater.readable.getReader();
  try {
    while (true) {
      const { done, value } = await reader.read();
      if (done) break;
      yield value;
    }
    await writing;
  } catch (error) {
    if (error instanceof EmbeddingError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new EmbeddingError('malformed', `${source.label}: the gzip data is damaged (${reason}).`);
  } finally {
    // Where the loop is left early: the rest is not wanted.
    writing.catch(() => {});
    await reader.cancel().catch(() => {});
  }
}

async function pump(
  chunks: AsyncIterable<Uint8Array>,
  writer: WritableStreamDefaultWriter<BufferSource>,
): Promise<void> {
  try {
    for await (const chunk of chunks) await writer.write(chunk.slice());
    await writer.close();
  } catch (error) {
    await writer.abort(error).catch(() => {});
    throw error;
  }
}
