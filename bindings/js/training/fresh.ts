/** Tables that come from no file: rows that are made or computed, seen as a file that is read like any other. */
import type { ByteSource } from '../sources/source.js';

export interface FreshTable {
  /** V */
  vocabSize: number;
  /** d */
  dim: number;
  /** Of the weights. Default 1 / √d. */
  standardDeviation?: number;
  /** A whole number of 0 or more. Default 0. */
  seed?: number;
}

interface Rows {
  vocabSize: number;
  dim: number;
  /** Rows first to first + count − 1: [count, d]. */
  rows: (first: number, count: number) => Float32Array | Promise<Float32Array>;
  /** What stands before the rows; default: that of a safetensors file. */
  header?: Uint8Array;
}

/** @throws {RangeError} that names what is no size, deviation or seed */
export function checkFresh({ vocabSize, dim, standardDeviation = 0, seed = 0 }: FreshTable): void {
  const checks = { vocabSize: vocabSize - 1, dim: dim - 1, seed };
  for (const [name, least] of Object.entries(checks)) {
    if (Number.isSafeInteger(least) && least >= 0) continue;
    const value = { vocabSize, dim, seed }[name];
    throw new RangeError(
      `${name} is ${value}; it must be a whole number of ${name === 'seed' ? 0 : 1} or more`,
    );
  }
  if (!(standardDeviation >= 0 && standardDeviation < Infinity)) {
    throw new RangeError(
      `standardDeviation is ${standardDeviation}; it must be a finite number of 0 or more`,
    );
  }
}

/** The rows are asked for while the file is read, and are never held together. */
export function rowSource({
  vocabSize,
  dim,
  rows,
  header = safetensorsHeader(vocabSize, dim),
}: Rows): ByteSource {
  const rowBytes = dim * 4;
  const bytes = vocabSize * rowBytes;

  return {
    name: 'table',
    byteLength: header.length + bytes,
    async slice(start: number, end: number): Promise<ArrayBuffer> {
      const out = new Uint8Array(end - start);
      out.set(header.subarray(start, end));
      const from = Math.max(start - header.length, 0);
      const to = end - header.length;
      if (to > from) {
        const first = Math.floor(from / rowBytes);
        const values = await rows(first, Math.ceil(to / rowBytes) - first);
        const wanted = new Uint8Array(values.buffer, values.byteOffset + from - first * rowBytes, to - from);
        out.set(wanted, Math.max(header.length - start, 0));
      }
      return out.buffer;
    },
  };
}

function safetensorsHeader(vocabSize: number, dim: number): Uint8Array {
  const tensor = { dtype: 'F32', shape: [vocabSize, dim], data_offsets: [0, vocabSize * dim * 4] };
  const json = new TextEncoder().encode(JSON.stringify({ 'embedding.weight': tensor }));
  const header = new Uint8Array(8 + json.length);
  new DataView(header.buffer).setUint32(0, json.length, true);
  header.set(json, 8);
  return header;
}
