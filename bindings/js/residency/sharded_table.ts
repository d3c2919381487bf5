import { checkHidden, checkIds, checkK, checkLimit, checkOut, checkPrecision } from '../arguments.js';
import { smallestFirst } from '../neighbours.js';
import type { Query } from '../neighbours.js';
import type { Segment, TableSpec } from '../open.js';
import type { Neighbours } from '../stage_types.js';
import type { Ids, LogitsOptions, LookupOptions, Tensor, TopK, TopKOptions } from '../types.js';
import type { Reading } from '../worker/protocol.js';
import type { WorkerThread } from '../worker/thread.js';
import { mergeTop } from './merge.js';
import type { ShardTop } from './merge.js';

/** Rows [first, first + rows) of a table, in one worker. */
interface Shard {
  thread: WorkerThread;
  /** The number that the table goes by in its worker. */
  table: number;
  first: number;
  rows: number;
  /** Goes to the worker with a call and comes back with its scores, so that calls need no new memory. */
  spare?: ArrayBuffer;
}

/** A larger buffer is not kept. */
const kMostSpareBytes = 4 << 20;

/** Room for `length` floats; a call made at the same time gets a buffer of its own. */
function takeSpare(shard: Shard, length: number): Float32Array<ArrayBuffer> {
  const { spare } = shard;
  shard.spare = undefined;
  const buffer = spare !== undefined && spare.byteLength >= 4 * length ? spare : new ArrayBuffer(4 * length);
  return new Float32Array(buffer, 0, length);
}

function keepSpare(shard: Shard, buffer: ArrayBufferLike): void {
  if (buffer.byteLength <= kMostSpareBytes) shard.spare = buffer as ArrayBuffer;
}

/** What is posted of a view is all of its buffer, which may be another runtime's whole memory: only the view's own part. */
function cutOut(view: Float32Array): Float32Array {
  return view.byteLength < view.buffer.byteLength ? view.slice() : view;
}

/** A chunk's part that belongs to one shard; `at` counts from the shard's own plane. */
interface Part {
  shard: Shard;
  at: number;
  bytes: Uint8Array;
}

/** Bytes of a file that belong to one shard, and their place there. */
export interface ShardPart extends Omit<Reading, 'source'> {
  thread: WorkerThread;
}

/** A table whose rows are spread over workers: each has a run of them, in order. */
export class ShardedTable {
  readonly #shards: Shard[];

  private constructor(
    shards: Shard[],
    private readonly spec: TableSpec,
    readonly rows: number,
    /** Bytes of a row in each plane. */
    private readonly planeBytes: readonly number[],
  ) {
    this.#shards = shards;
  }

  /** Rows are divided evenly; their bytes are still to be written. */
  static async create(
    threads: readonly WorkerThread[],
    spec: TableSpec,
    rows: number,
    planeBytes: readonly number[],
  ): Promise<ShardedTable> {
    const each = Math.ceil(rows / threads.length);
    const shards = threads.map(async (thread, i) => {
      const first = Math.min(i * each, rows);
      const own = Math.min(each, rows - first);
      return { thread, first, rows: own, table: await thread.call('create', { spec, rows: own }) };
    });
    return new ShardedTable(await Promise.all(shards), spec, rows, planeBytes);
  }

  /** Weights of a row. */
  get cols(): number {
    return this.spec.cols;
  }

  /** Bytes of all rows, in all workers. */
  get bytes(): number {
    return this.rows * this.planeBytes.reduce((sum, bytes) => sum + bytes, 0);
  }

  /** A second table with the same bytes in the same workers. */
  async copy(): Promise<ShardedTable> {
    const { spec } = this;
    const shards = this.#shards.map(async (shard) => ({
      thread: shard.thread,
      first: shard.first,
      rows: shard.rows,
      table: await shard.thread.call('copy', { table: shard.table, spec }),
    }));
    return new ShardedTable(await Promise.all(shards), spec, this.rows, this.planeBytes);
  }

  /** What of a segment belongs to each shard. */
  share({ offset, bytes, plane, target }: Segment): ShardPart[] {
    const rowBytes = this.planeBytes[plane]!;
    return this.#shards.flatMap(({ thread, table, first, rows }) => {
      const start = first * rowBytes;
      const from = Math.max(start, target);
      const to = Math.min(start + rows * rowBytes, target + bytes);
      if (from >= to) return [];
      return [{ thread, table, plane, at: from - start, offset: offset + from - target, bytes: to - from }];
    });
  }

  /** The number that the table goes by in a worker. */
  tableOf(thread: WorkerThread): number {
    return this.#shards.find((shard) => shard.thread === thread)!.table;
  }

  /** Writes bytes of the whole table's plane, from byte `at` on. */
  async write(plane: number, at: number, chunk: Uint8Array): Promise<void> {
    const parts = this.#split(plane, at, chunk);
    await Promise.all(
      parts.map(({ shard, at, bytes }) => {
        const own = bytes.slice();
        return shard.thread.call('write', { table: shard.table, plane, at, bytes: own }, [own.buffer]);
      }),
    );
  }

  /** Whether the table has these bytes at their place already. */
  async holds(plane: number, at: number, chunk: Uint8Array): Promise<boolean> {
    const answers = this.#split(plane, at, chunk).map(({ shard, at, bytes }) => {
      const own = bytes.slice();
      return shard.thread.call('holds', { table: shard.table, plane, at, bytes: own }, [own.buffer]);
    });
    return (await Promise.all(answers)).every(Boolean);
  }

  async lookup(ids: Ids, options: LookupOptions): Promise<Tensor> {
    const { ids: all, dims } = checkIds(ids, this.rows);
    const width = this.spec.cols;
    const data = options.out
      ? checkOut(options.out, all.length * width)
      : new Float32Array(all.length * width);
    await Promise.all(
      this.#byShard(all).map(async ({ shard, ids: own, positions }) => {
        const rows = await shard.thread.call('lookup', { table: shard.table, ids: own }, [own.buffer]);
        positions.forEach((position, i) => {
          data.set(rows.subarray(i * width, (i + 1) * width), position * width);
        });
      }),
    );
    return { data, dims: [...dims, width] };
  }

  async logits(hidden: Float32Array | Tensor, options: LogitsOptions): Promise<Tensor> {
    const { data: vectors, count, dims } = checkHidden(hidden, this.spec.cols);
    checkPrecision(options.precision);
    const { precision } = options;
    const alone = cutOut(vectors);
    const only = options.ids === undefined ? undefined : checkIds(options.ids, this.rows).ids;
    const width = only?.length ?? this.rows;
    if (options.out) checkOut(options.out, count * width);
    const scored = this.#byShard(only).map(async ({ shard, ids, positions }) => {
      const rows = only ? ids.length : shard.rows;
      const out = takeSpare(shard, count * rows);
      const request = { table: shard.table, hidden: alone, precision, out };
      const scores = await shard.thread.call('logits', only ? { ...request, ids } : request, [out.buffer]);
      return { shard, positions, rows, scores };
    });
    // Made while the workers are busy already.
    const data = options.out ?? new Float32Array(count * width);
    await Promise.all(
      scored.map(async (answer) => {
        const { shard, positions, rows, scores } = await answer;
        for (let n = 0; n < count; n++) {
          const part = scores.subarray(n * rows, (n + 1) * rows);
          if (only) positions.forEach((position, i) => (data[n * width + position] = part[i]!));
          else data.set(part, n * width + shard.first);
        }
        keepSpare(shard, scores.buffer);
      }),
    );
    return { data, dims: [...dims, width] };
  }

  async topK(hidden: Float32Array | Tensor, k: number, options: TopKOptions): Promise<TopK> {
    const { data: vectors, count, dims } = checkHidden(hidden, this.spec.cols);
    checkPrecision(options.precision);
    const limit = options.limit ?? this.rows;
    checkLimit(limit, this.rows);
    const only =
      options.ids === undefined ? undefined : checkIds(options.ids, this.rows).ids.filter((id) => id < limit);
    checkK(k, only?.length ?? limit);
    const alone = cutOut(vectors);
    const tops = this.#byShard(only).map(async ({ shard, ids }): Promise<ShardTop> => {
      const competing = only ? ids.length : Math.min(shard.rows, limit - shard.first);
      if (competing <= 0) return { values: new Float32Array(), indices: new Int32Array(), k: 0 };
      const own = Math.min(k, competing);
      const { precision } = options;
      const request = { table: shard.table, hidden: alone, k: own, precision };
      const filter = only ? { ids } : { limit: competing };
      const { values, indices } = await shard.thread.call('topK', { ...request, ...filter });
      return { values, indices: indices.map((id) => (id < 0 ? id : id + shard.first)), k: own };
    });
    return mergeTop(await Promise.all(tops), count, k, dims);
  }

  async nearest({ exclude, limit, k, vector, ...contest }: Query): Promise<Neighbours> {
    const query = { ...contest, vector: cutOut(vector) };
    // Lists are merged by the greatest value.
    const sign = smallestFirst(query.metric) ? -1 : 1;
    const lists = this.#shards.map(async ({ thread, table, first, rows }): Promise<ShardTop> => {
      const competing = Math.min(rows, limit - first);
      if (competing <= 0) return { values: new Float32Array(), indices: new Int32Array(), k: 0 };
      const own = exclude.filter((id) => id >= first && id < first + rows).map((id) => id - first);
      const part = { ...query, table, exclude: own, limit: competing, k: Math.min(k, competing) };
      const { values, indices } = await thread.call('nearest', part);
      return {
        values: values.map((value) => sign * value),
        indices: indices.map((id) => (id < 0 ? id : id + first)),
        k: part.k,
      };
    });
    const { values, indices } = mergeTop(await Promise.all(lists), 1, k, [1]);
    return { values: values.map((value) => sign * value), indices };
  }

  #split(plane: number, at: number, chunk: Uint8Array): Part[] {
    const rowBytes = this.planeBytes[plane]!;
    return this.#shards.flatMap((shard) => {
      const start = shard.first * rowBytes;
      const from = Math.max(start, at);
      const to = Math.min(start + shard.rows * rowBytes, at + chunk.length);
      return from < to ? [{ shard, at: from - start, bytes: chunk.subarray(from - at, to - at) }] : [];
    });
  }

  /** The ids of each shard, counted from its first row, and where they stood. All shards where there are no ids. */
  #byShard(
    ids: Uint32Array | undefined,
  ): { shard: Shard; ids: Uint32Array<ArrayBuffer>; positions: number[] }[] {
    const all = this.#shards.map((shard) => ({ shard, own: [] as number[], positions: [] as number[] }));
    const each = this.#shards[0]!.rows;
    ids?.forEach((id, position) => {
      const { shard, own, positions } = all[Math.floor(id / each)]!;
      own.push(id - shard.first);
      positions.push(position);
    });
    return all
      .filter(({ shard, own }) => (ids ? own.length > 0 : shard.rows > 0))
      .map(({ shard, own, positions }) => ({ shard, ids: Uint32Array.from(own), positions }));
  }
}
