import { checkHidden, checkIds, checkK, checkLimit, checkOut, checkPrecision } from './arguments.js';
import { ComputedFloats, GivenFloats, kAffineCall, kHiddenAtOnce, pieceOf, withCall } from './call.js';
import { Core } from './core.js';
import { EmbeddingError } from './errors.js';
import type { Handle } from './handle.js';
import { lazy } from './lazy.js';
import type { TableSpec } from './open.js';
import type { Ids, LogitsOptions, LookupOptions, Tensor, TopK, TopKOptions } from './types.js';
import type { WasmOptions } from './wasm.js';

/** What a table is made of, where it comes from no file. */
export interface TableOptions extends WasmOptions {
  /** A format: `F32`, `Q8_0`, … */
  dtype: string;
  /** d, the weights of a row. */
  dim: number;
}

/**
 * A table E [V, d] in this thread's memory, and what one does with it, synchronously: read rows, score rows.
 * Rows stay in the format they were stored in.
 */
export class EmbeddingTable {
  /** V */
  readonly vocabSize: number;
  /** d */
  readonly dim: number;
  readonly dtype: string;
  readonly #core: Core;
  readonly #handle: Handle;
  #disposed = false;

  /** @internal Takes the handle over. */
  constructor(core: Core, handle: Handle, spec: { rows: number; cols: number; dtype: string }) {
    this.#core = core;
    this.#handle = handle;
    this.vocabSize = spec.rows;
    this.dim = spec.cols;
    this.dtype = spec.dtype;
  }

  /**
   * A table from the bytes of its rows, as a file of that format holds them; V follows from their length.
   * @throws {EmbeddingError} `unsupported` for an unknown format
   * @throws {TypeError} where d does not fit the format's blocks, or the bytes are no whole number of rows
   */
  static async create(data: ArrayBuffer | ArrayBufferView, options: TableOptions): Promise<EmbeddingTable> {
    const bytes = ArrayBuffer.isView(data)
      ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
      : new Uint8Array(data);
    const core = await Core.create(options);
    const rows = rowsOf(core, bytes.length, options);
    const { dtype, dim } = options;
    const table = EmbeddingTable.allocate(core, { dtype, cols: dim }, rows);
    core.memory.write(table.address, bytes);
    return table;
  }

  /** @internal A table whose bytes are still to be written. */
  static allocate(core: Core, spec: TableSpec, rows: number): EmbeddingTable {
    const { dtype, cols, affine } = spec;
    const { makeTable, deleteTable } = core.functions;
    const address = withCall(core, [], [], (call) =>
      makeTable(dtype, rows, cols, affine ? call.struct(kAffineCall, affine) : 0, core.isa),
    );
    return new EmbeddingTable(core, core.own(address, deleteTable), { rows, cols, dtype });
  }

  /** @internal What another core needs to know to make the same table. */
  get spec(): TableSpec {
    return this.#core.answer(this.#core.functions.tableSpec(this.handle));
  }

  /** @internal */
  get core(): Core {
    return this.#core;
  }

  /**
   * A new table with the same rows in another format, encoded as ggml's reference does, by a module that is loaded
   * for it.
   * @throws {EmbeddingError} `unsupported` where there is no encoder for the format
   * @throws {TypeError} where d is no whole number of its blocks
   */
  async quantize(dtype: string): Promise<EmbeddingTable> {
    void this.handle; // throws where it was disposed of
    const { quantizeTable } = await lazy('encoding tables', () => import('./quantize.js'));
    return quantizeTable(this, dtype);
  }

  /** The instruction set of its kernels: `scalar`, `simd128` or `relaxed`. */
  get isa(): string {
    return this.#core.functions.tableIsa(this.handle);
  }

  /** Bytes of its rows in memory. */
  get bytes(): number {
    return this.planes.reduce((sum, plane) => sum + plane.bytes, 0);
  }

  /** Byte offset of its first row in the WebAssembly memory: two tables are one if their addresses are equal. */
  get address(): number {
    return planeOf(this.#core, this.handle, 0).address;
  }

  /** Size in bytes of the WebAssembly memory that it lies in. */
  get heapBytes(): number {
    this.#checkAlive();
    return this.#core.memory.size;
  }

  /**
   * E[ids], dequantized: [N] → [N, d], [B, N] → [B, N, d].
   * @throws {RangeError} for an id outside [0, V); `out` is untouched then
   */
  lookup(ids: Ids, options: LookupOptions = {}): Tensor {
    const { memory, functions } = this.#core;
    const table = this.handle;
    const { ids: all, dims } = checkIds(ids, this.vocabSize);
    const result = this.#result(options.out, all.length * this.dim);
    const atOnce = result.atOnce(this.dim);
    for (let start = 0; start < all.length; start += atOnce) {
      const part = all.subarray(start, start + atOnce);
      const floats = part.length * this.dim;
      memory.withScratch(4 * part.length + result.bytes(floats), (scratch) => {
        memory.writeUint32s(scratch, part);
        result.fill(scratch + 4 * part.length, start * this.dim, floats, (out) =>
          functions.lookup(table, scratch, part.length, out),
        );
      });
    }
    return { data: result.data, dims: [...dims, this.dim] };
  }

  /**
   * hidden · Eᵀ: [N, d] → [N, V]; with `ids`, [N, ids.length].
   * @throws {TypeError} where hidden's last dimension is not d
   */
  logits(hidden: Float32Array | Tensor, options: LogitsOptions = {}): Tensor {
    const core = this.#core;
    const table = this.handle;
    const checked = checkHidden(hidden, this.dim);
    const fast = checkPrecision(options.precision);
    const only = this.#candidates(options.ids);
    const width = only?.length ?? this.vocabSize;
    const result = this.#result(options.out, checked.count * width);
    const rows = new GivenFloats(core, checked.data);
    const atOnce = result.atOnce(width, kHiddenAtOnce);
    for (let start = 0; start < checked.count; start += atOnce) {
      const count = Math.min(atOnce, checked.count - start);
      const [given, floats] = [count * this.dim, count * width];
      withCall(core, [only], [rows.bytes(given), result.bytes(floats)], (call) => {
        const [from, ids] = [rows.give(call, start * this.dim, given), call.give(only)];
        result.fill(call.room(result.bytes(floats)), start * width, floats, (out) =>
          core.functions.logits(table, from, count, fast, ids, only?.length ?? 0, -1, out),
        );
      });
    }
    return { data: result.data, dims: [...checked.dims, width] };
  }

  /**
   * The k ids with the largest logits, best first, without an [N, V] array. Ties go to the lower id; NaN never wins.
   * @throws {RangeError} where k is not in [1, number of ids that compete]
   */
  topK(hidden: Float32Array | Tensor, k: number, options: TopKOptions = {}): TopK {
    const { memory, functions } = this.#core;
    const table = this.handle;
    const checked = checkHidden(hidden, this.dim);
    const fast = checkPrecision(options.precision);
    const only = this.#candidates(options.ids);
    const limit = options.limit ?? this.vocabSize;
    checkLimit(limit, this.vocabSize);
    checkK(k, only ? competing(only, limit) : limit);
    const values = new Float32Array(checked.count * k);
    const indices = new Int32Array(checked.count * k);
    const rows = new GivenFloats(this.#core, checked.data);
    const atOnce = Math.max(pieceOf(Math.max(k, this.dim)), kHiddenAtOnce);
    for (let start = 0; start < checked.count; start += atOnce) {
      const count = Math.min(atOnce, checked.count - start);
      const [given, bytes] = [count * this.dim, count * k * 4];
      withCall(this.#core, [only], [rows.bytes(given), bytes, bytes], (call) => {
        const [from, ids] = [rows.give(call, start * this.dim, given), call.give(only)];
        const [valuesAt, indicesAt] = [call.room(bytes), call.room(bytes)];
        const nIds = only?.length ?? 0;
        this.#core.check(functions.topK(table, from, count, k, fast, ids, nIds, limit, valuesAt, indicesAt));
        memory.readFloats(valuesAt, count * k, values, start * k);
        memory.readInt32s(indicesAt, count * k, indices, start * k);
      });
    }
    return { values, indices, dims: [...checked.dims, k] };
  }

  /**
   * Room for `length` floats in the memory that the table lies in. Given as `out`, results are written there and
   * not copied; given as hidden vectors, they are read from there.
   */
  allocate(length: number): HeapFloats {
    this.#checkAlive();
    if (!Number.isInteger(length) || length < 0) {
      throw new RangeError(`length is ${length}; it must be a whole number of floats`);
    }
    return new HeapFloats(this.#core, length);
  }

  /** Frees the rows. Every later call throws an EmbeddingError with code `disposed`. */
  dispose(): void {
    if (this.#disposed) return;
    this.#disposed = true;
    this.#handle.delete();
  }

  [Symbol.dispose](): void {
    this.dispose();
  }

  /** @internal Its address, for functions of the core that take a table. */
  get handle(): number {
    this.#checkAlive();
    return this.#handle.address;
  }

  #checkAlive(): void {
    if (this.#disposed) {
      throw new EmbeddingError('disposed', 'This table was disposed of: create or load it again.');
    }
  }

  /** @internal Where its bytes lie: quants or whole blocks, scales, offsets; empty where its format has none. */
  get planes(): Plane[] {
    return planesOf(this.#core, this.handle);
  }

  #candidates(ids: Ids | undefined): Uint32Array | undefined {
    return ids === undefined ? undefined : checkIds(ids, this.vocabSize).ids;
  }

  #result(out: Float32Array | undefined, length: number): ComputedFloats {
    return new ComputedFloats(
      this.#core,
      out === undefined ? new Float32Array(length) : checkOut(out, length),
    );
  }
}

/**
 * Floats in the WebAssembly memory. `data` must be asked for anew after any call of id2vec: the memory may have
 * grown, and growing detaches every view (its length is 0 then). The values themselves stay.
 */
export class HeapFloats {
  readonly length: number;
  readonly #core: Core;
  #address: number;

  /** @internal */
  constructor(core: Core, length: number) {
    this.#core = core;
    this.length = length;
    this.#address = core.memory.allocate(length * 4);
  }

  get data(): Float32Array {
    if (this.#address !== 0) return this.#core.memory.floatsInPlace(this.#address, this.length);
    throw new EmbeddingError('disposed', 'These floats were disposed of: allocate them again.');
  }

  /** Frees the memory; views on it must not be used any more. */
  dispose(): void {
    if (this.#address !== 0) this.#core.memory.release(this.#address);
    this.#address = 0;
  }

  [Symbol.dispose](): void {
    this.dispose();
  }
}

/** @internal */
export interface Plane {
  address: number;
  bytes: number;
}

/** @internal Of a table by its address: quants or whole blocks, scales, offsets. */
export function planeOf({ functions }: Core, table: number, plane: number): Plane {
  return { address: functions.planeAddress(table, plane), bytes: functions.planeBytes(table, plane) };
}

/** @internal */
export function planesOf(core: Core, table: number): Plane[] {
  return [0, 1, 2].map((plane) => planeOf(core, table, plane));
}

function competing(only: Uint32Array, limit: number): number {
  return only.reduce((count, id) => count + (id < limit ? 1 : 0), 0);
}

interface Format {
  name: string;
  blockSize: number;
  blockBytes: number;
}

function rowsOf(core: Core, bytes: number, { dtype, dim }: TableOptions): number {
  const formats = core.answer<Format[]>(core.functions.formats());
  const format = formats.find(({ name }) => name === dtype);
  if (format === undefined) {
    const known = formats.map(({ name }) => name).join(', ');
    throw new EmbeddingError('unsupported', `dtype "${dtype}" is none of ${known}.`);
  }
  const rows = bytes / ((dim / format.blockSize) * format.blockBytes);
  if (Number.isInteger(dim) && dim > 0 && Number.isInteger(rows) && rows > 0) return rows;
  throw new TypeError(
    `${bytes} bytes are no whole number of ${dtype} rows of ${dim} weights ` +
      `(blocks of ${format.blockSize} weights take ${format.blockBytes} bytes)`,
  );
}
