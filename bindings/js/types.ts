/** The shapes of what goes in and comes out. */

/**
 * Token ids: one sequence (`[N]`), or a batch of sequences of one length (`number[][]`, `[B, N]`). Each must be a
 * whole number in [0, V).
 */
export type Ids =
  readonly number[] | Int32Array | Uint32Array | BigInt64Array | readonly (readonly number[])[];

/** Floats in row-major order: `data[i * dims[1] + j]` is element [i, j] of a matrix. */
export interface Tensor {
  data: Float32Array;
  dims: number[];
}

/** The best k ids of each hidden vector, best first; ties go to the lower id. Row-major, `dims` = […, k]. */
export interface TopK {
  values: Float32Array;
  indices: Int32Array;
  dims: number[];
}

/**
 * Of dot products with quantized rows: `high` keeps the hidden vector at 16 bits per group (or in float), `fast` at
 * 8 bits.
 */
export type Precision = 'high' | 'fast';

export interface LookupOptions {
  /** Where to write, N · d long; becomes the result's `data`. */
  out?: Float32Array;
}

export interface LogitsOptions {
  /** Score these ids alone, in this order: the result is […, ids.length]. Default: every id. */
  ids?: Ids;
  /** Where to write; becomes the result's `data`. */
  out?: Float32Array;
  /** Default `high`. */
  precision?: Precision;
}

export interface TopKOptions {
  /** Only these ids compete. Default: every id. */
  ids?: Ids;
  /** Ids from here on do not compete: rows beyond the tokenizer's last token. Default: V. */
  limit?: number;
  /** Default `high`. */
  precision?: Precision;
}
