/** What the main thread asks of a worker that holds a shard of tables: one request, one answer. */
import type { TableSpec } from '../open.js';
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
  lookup(request: { table: number; ids: Uint32Array }): Float32Array;
  logits(request: Scoring): Float32Array;
  topK(request: Scoring & { k: number; limit?: number }): { values: Float32Array; indices: Int32Array };
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

export type Answer = { call: number; answer: unknown } | { call: number; failure: Failure };
