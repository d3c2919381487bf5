/**
 * Fetches single rows: from the row cache, else from their files. Calls made at the same time share requests, a row
 * that is on its way is not asked for twice, and pieces that lie close together are read as one range.
 */
import type { Range, Source } from '../sources/source.js';
import type { RowCache } from './row_cache.js';
import type { Piece, RowLayout } from './row_layout.js';

// What a part of a multi-part answer (or another request) costs anyway is worth a few skipped bytes.
const kGapBytes = 4096;

interface Waiting {
  promise: Promise<Uint8Array>;
  resolve(row: Uint8Array): void;
  reject(reason: unknown): void;
}

/** Bytes that are read in one go, and the pieces in it. */
interface Run extends Range {
  pieces: { id: number; piece: Piece }[];
}

export class RowFetcher {
  readonly #asked = new Map<number, Waiting>();
  readonly #onTheirWay = new Map<number, Waiting>();

  constructor(
    private readonly layout: RowLayout,
    private readonly cache: RowCache,
    private readonly source: (file: number) => Source,
    private readonly signal: AbortSignal,
  ) {}

  /** The stored bytes of each row, planes one behind the other. */
  rows(ids: Iterable<number>): Promise<Uint8Array[]> {
    return Promise.all(Array.from(ids, (id) => this.#row(id)));
  }

  #row(id: number): Promise<Uint8Array> {
    const coming = this.#onTheirWay.get(id) ?? this.#asked.get(id);
    if (coming) return coming.promise;
    const row = this.cache.get(id);
    if (row) return Promise.resolve(row);
    // All that is asked for until the event loop turns goes into one batch.
    if (this.#asked.size === 0) setTimeout(() => void this.#send(), 0);
    const waiting = makeWaiting();
    this.#asked.set(id, waiting);
    return waiting.promise;
  }

  async #send(): Promise<void> {
    const batch = new Map(this.#asked);
    this.#asked.clear();
    for (const [id, waiting] of batch) this.#onTheirWay.set(id, waiting);
    try {
      const rows = await this.#read([...batch.keys()]);
      for (const [id, row] of rows) {
        this.cache.set(id, row);
        batch.get(id)!.resolve(row);
      }
    } catch (error) {
      for (const waiting of batch.values()) waiting.reject(error);
    } finally {
      for (const id of batch.keys()) this.#onTheirWay.delete(id);
    }
  }

  async #read(ids: number[]): Promise<Map<number, Uint8Array>> {
    const rows = new Map(ids.map((id) => [id, new Uint8Array(this.layout.rowBytes)]));
    const byFile = new Map<number, { id: number; piece: Piece }[]>();
    for (const id of ids) {
      for (const piece of this.layout.pieces(id)) {
        if (!byFile.has(piece.file)) byFile.set(piece.file, []);
        byFile.get(piece.file)!.push({ id, piece });
      }
    }
    const reads = Array.from(byFile, async ([file, pieces]) => {
      const runs = joinPieces(pieces);
      const parts = await readRuns(this.source(file), runs, this.signal);
      runs.forEach((run, i) => {
        for (const { id, piece } of run.pieces) {
          const part = parts[i]!.subarray(piece.start - run.start, piece.end - run.start);
          rows.get(id)!.set(part, piece.at);
        }
      });
    });
    await Promise.all(reads);
    return rows;
  }
}

/** Joins pieces that touch or nearly touch. */
export function joinPieces(pieces: { id: number; piece: Piece }[]): Run[] {
  const sorted = [...pieces].sort((a, b) => a.piece.start - b.piece.start);
  const runs: Run[] = [];
  for (const item of sorted) {
    const { start, end } = item.piece;
    const last = runs.at(-1);
    if (last && start - last.end <= kGapBytes) {
      last.end = Math.max(last.end, end);
      last.pieces.push(item);
    } else {
      runs.push({ start, end, pieces: [item] });
    }
  }
  return runs;
}

// Scattered rows are no download to be continued: the persistent cache keeps whole stretches only.
async function readRuns(source: Source, runs: Run[], signal: AbortSignal): Promise<Uint8Array[]> {
  const options = { signal, store: false };
  if (source.readRanges) return source.readRanges(runs, options);
  const parts: Uint8Array[] = [];
  for (const { start, end } of runs) parts.push(await source.read(start, end, options));
  return parts;
}

function makeWaiting(): Waiting {
  const waiting = {} as Waiting;
  waiting.promise = new Promise((resolve, reject) => Object.assign(waiting, { resolve, reject }));
  return waiting;
}
