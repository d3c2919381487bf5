/**
 * Checks of what callers pass, done before anything is read or written: ids, hidden vectors, output arrays.
 * Wrong kinds are TypeErrors, wrong values RangeErrors; both name the value and where it stands.
 */
import type { Ids, Precision, Tensor } from './types.js';

/** Ids that were checked against V. */
export interface CheckedIds {
  ids: Uint32Array;
  /** [N] or [B, N]. */
  dims: number[];
}

/**
 * @throws {TypeError} for anything but ids, and for rows of different lengths
 * @throws {RangeError} for an id that is no whole number in [0, vocabSize)
 */
export function checkIds(ids: Ids, vocabSize: number): CheckedIds {
  if (isBatch(ids)) return checkBatch(ids, vocabSize);
  if (!isSequence(ids)) {
    throw new TypeError(
      `ids must be an array of numbers, an Int32Array, a Uint32Array, a BigInt64Array or an array of arrays, ` +
        `not ${describe(ids)}`,
    );
  }
  const checked = new Uint32Array(ids.length);
  checkInto(checked, 0, ids, vocabSize, '');
  return { ids: checked, dims: [ids.length] };
}

type Sequence = readonly number[] | Int32Array | Uint32Array | BigInt64Array;

function isBatch(ids: Ids): ids is readonly (readonly number[])[] {
  return Array.isArray(ids) && (Array.isArray(ids[0]) || ArrayBuffer.isView(ids[0]));
}

function isSequence(ids: unknown): ids is Sequence {
  return (
    Array.isArray(ids) ||
    ids instanceof Int32Array ||
    ids instanceof Uint32Array ||
    ids instanceof BigInt64Array
  );
}

function checkBatch(rows: readonly (readonly number[])[], vocabSize: number): CheckedIds {
  const length = rows[0]!.length;
  const ids = new Uint32Array(rows.length * length);
  rows.forEach((row, b) => {
    if (!isSequence(row)) throw new TypeError(`row ${b} of ids is ${describe(row)}, not an array of ids`);
    if (row.length !== length) {
      throw new TypeError(
        `row ${b} of ids has ${row.length} ids where row 0 has ${length}: pad the rows to one length`,
      );
    }
    checkInto(ids, b * length, row, vocabSize, `row ${b}, `);
  });
  return { ids, dims: [rows.length, length] };
}

function checkInto(to: Uint32Array, at: number, ids: Sequence, vocabSize: number, where: string): void {
  const wide = ids instanceof BigInt64Array;
  for (let i = 0; i < ids.length; i++) {
    // A bigint too large for a number is far out of range, whatever it is rounded to.
    const id = wide ? Number(ids[i]) : (ids[i] as number);
    if (typeof id !== 'number' || !Number.isInteger(id) || id < 0 || id >= vocabSize) {
      throw badId(ids[i], `${where}position ${i}`, vocabSize);
    }
    to[at + i] = id;
  }
}

function badId(id: unknown, where: string, vocabSize: number): Error {
  if (typeof id === 'bigint' && id >= 0n && id < BigInt(vocabSize)) {
    return new TypeError(`the id at ${where} is the bigint ${id}: use numbers, or a BigInt64Array`);
  }
  if (typeof id !== 'number' && typeof id !== 'bigint') {
    return new TypeError(`the id at ${where} is ${describe(id)}, not a number`);
  }
  if (typeof id === 'number' && !Number.isInteger(id)) {
    return new RangeError(`id ${id} at ${where} is not a whole number; ids are 0 to ${vocabSize - 1}`);
  }
  return new RangeError(
    `id ${id} at ${where} is outside the vocabulary of ${vocabSize} rows; ids are 0 to ${vocabSize - 1}`,
  );
}

/** Hidden vectors that were checked against d. */
export interface CheckedHidden {
  /** [N, d], row-major. */
  data: Float32Array;
  /** N. */
  count: number;
  /** The shape without its last dimension. */
  dims: number[];
}

/**
 * A Float32Array is [N, d]; a tensor's last dimension must be d.
 * @throws {TypeError} for anything else
 */
export function checkHidden(hidden: Float32Array | Tensor, dim: number): CheckedHidden {
  if (hidden instanceof Float32Array) {
    if (hidden.length % dim !== 0) {
      throw new TypeError(
        `hidden has ${hidden.length} values, which is no multiple of the model's width of ${dim}`,
      );
    }
    return { data: hidden, count: hidden.length / dim, dims: [hidden.length / dim] };
  }
  const { data, dims } = (hidden ?? {}) as Partial<Tensor>;
  if (!(data instanceof Float32Array) || !Array.isArray(dims)) {
    throw new TypeError(
      `hidden must be a Float32Array or { data: Float32Array, dims }, not ${describe(hidden)}`,
    );
  }
  const outer = dims.slice(0, -1);
  const count = outer.reduce((product, size) => product * size, 1);
  if (dims.at(-1) !== dim || count * dim !== data.length) {
    throw new TypeError(
      `hidden has dims [${dims.join(', ')}] and ${data.length} values: dims must be […, ${dim}] and agree with data`,
    );
  }
  return { data, count, dims: outer };
}

/** @throws {TypeError} unless `out` is a Float32Array of exactly `length` values */
export function checkOut(out: Float32Array, length: number): Float32Array {
  if (!(out instanceof Float32Array)) throw new TypeError(`out must be a Float32Array, not ${describe(out)}`);
  if (out.length !== length) {
    throw new TypeError(`out has ${out.length} values where the result has ${length}`);
  }
  return out;
}

/** @throws {RangeError} unless k is a whole number in [1, candidates] */
export function checkK(k: number, candidates: number): void {
  if (typeof k !== 'number') throw new TypeError(`k must be a number, not ${describe(k)}`);
  if (Number.isInteger(k) && k >= 1 && k <= candidates) return;
  throw new RangeError(`k is ${k}; it must be a whole number from 1 to ${candidates}, the ids that compete`);
}

/** @throws {RangeError} unless `limit` is a whole number in [1, vocabSize] */
export function checkLimit(limit: number, vocabSize: number): void {
  if (Number.isInteger(limit) && limit >= 1 && limit <= vocabSize) return;
  throw new RangeError(`limit is ${limit}; it must be a whole number from 1 to ${vocabSize}`);
}

/** True for `fast`. */
export function checkPrecision(precision: Precision | undefined): boolean {
  if (precision === undefined || precision === 'high') return false;
  if (precision === 'fast') return true;
  throw new TypeError(`precision must be "high" or "fast", not ${describe(precision)}`);
}

function describe(value: unknown): string {
  if (typeof value === 'string') return `the string "${value.slice(0, 40)}"`;
  if (typeof value === 'number' || typeof value === 'boolean') return `the ${typeof value} ${value}`;
  if (typeof value !== 'object' || value === null) return value === null ? 'null' : typeof value;
  return `a ${value.constructor?.name ?? 'object without a prototype'}`;
}
