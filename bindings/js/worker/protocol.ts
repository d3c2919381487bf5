/** What the main thread asks of a worker that holds a shard of tables: one request, one answer. */
import type { Query } from '../neighbours.js';
import type { TableSpec } from '../open.js';
import type { Neighbours } from '../stage_types.js';
import type { Recipe } from '../sources/recipe.js';
import type { Traffic } from '../sources/source.js';
import type { Precision } from '../types.js';

/** Scores of some of the shard's rows. Ids count from the shard's first row. */
interface Scoring {
  table: number;
  hidden: Float32Array;
  precision?: Precision;
  ids?: Uint32Array;
}

/** Bytes for plane `plane` of a table, from byte `at` on. */
interface Placed {
  table: number;
  plane: number;
  at: number;
  bytes: Uint8Array;
}

/** Bytes [offset, offset + bytes) of an opened source, whose place is plane `plane` of a table, from byte `at` on. */
export interface Reading {
  source: number;
  offset: number;
  bytes: number;
  table: number;
  plane: number;
  at: number;
}

export interface Operations {
  /** The core that all tables of the worker share. */
  start(request: { module: WebAssembly.Module; isa: string }): void;
  /** Gives the number that the new table goes by. */
  create(request: { spec: TableSpec; rows: number }): number;
  /** A second table with the same bytes. */
  copy(request: { table: number; spec: TableSpec }): number;
  write(request: Placed): void;
  /** Whether the table has these bytes at their place already. */
  holds(request: Placed): boolean;
  /** Gives the number that the source goes by. Nothing is read yet. */
  open(request: { recipe: Recipe }): number;
  /** Reads bytes to their place; tells how many there are by and by. */
  read(request: Reading): void;
  /** Reads on as long as the table has the bytes at their place already; gives how many those are. */
  compare(request: Reading): number;
  /** Lets go of all files, which are read no more; tells what they have cost. */
  close(request: object): Traffic;
  /** Ends all reading: it fails, and no request is left open. */
  cancel(request: object): void;
  lookup(request: { table: number; ids: Uint32Array }): Float32Array;
  /** Written to `out`, which is handed over there and back. */
  logits(request: Scoring & { out: Float32Array }): Float32Array;
  topK(request: Scoring & { k: number; limit?: number }): { values: Float32Array; indices: Int32Array };
  /** Ids count from the shard's first row. */
  nearest(request: Query & { table: number }): Neighbours;
  heapBytes(request: object): number;
}

export type Operation = keyof Operations;
export type RequestOf<O extends Operation> = Parameters<Operations[O]>[0];
export type AnswerOf<O extends Operation> = ReturnType<Operations[O]>;

export interface Request {
  call: number;
  operation: Operation;
  request: unknown;
}

/** Errors lose their class between threads: `kind` brings it back. */
export interface Failure {
  kind: 'TypeError' | 'RangeError' | 'EmbeddingError';
  code: string;
  message: string;
}

/** `progress`: bytes that were read since the last one; more messages follow. */
export type Answer =
  { call: number; progress: number } | { call: number; answer: unknown } | { call: number; failure: Failure };
