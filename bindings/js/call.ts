/** Arguments and results of one call of the core, laid out one after the other in memory of that core. */
import type { Core } from './core.js';

/** The fields of the structs of bindings/calls.h, in their order. */
export const kEmbedCall = [
  'ids',
  'batch',
  'length',
  'past',
  'positions',
  'positionsLength',
  'attentionMask',
  'tokenTypes',
  'rows',
] as const;
export const kHeadCall = [
  'hidden',
  'count',
  'fast',
  'allowed',
  'allowedLength',
  'forbidden',
  'forbiddenLength',
  'limit',
  'temperature',
  'scores',
] as const;
export const kPoolCall = [
  'ids',
  'idsLength',
  'offsets',
  'offsetsLength',
  'attentionMask',
  'sampleWeights',
  'mode',
  'paddingId',
  'unknownId',
  'dimensions',
  'normalize',
  'places',
] as const;
export const kNearestCall = ['query', 'k', 'metric', 'exclude', 'excludeLength', 'limit'] as const;
export const kAffineCall = [
  'groupSize',
  'scaleType',
  'offsets',
  'isSigned',
  'perTensor',
  'zeroPoint',
  'scaleFactor',
] as const;

/** Of the largest of them, and of those in training/. */
const kStructBytes = 128;

type Numbers = Uint8Array | Uint32Array | Float32Array | Float64Array;

/** Hands out addresses within a piece of scratch memory, 8-byte aligned. 0 stands for "not given". */
export class Call {
  #next: number;

  constructor(
    private readonly core: Core,
    address: number,
  ) {
    this.#next = address;
  }

  /** Copies an array in, or takes it where it is if that is the core's memory. */
  give(values: Numbers | undefined): number {
    if (values === undefined) return 0;
    const there = this.core.memory.addressOf(values);
    if (there !== undefined) return there;
    const address = this.room(values.byteLength);
    this.core.memory.write(address, new Uint8Array(values.buffer, values.byteOffset, values.byteLength));
    return address;
  }

  /** Arguments of a function that takes many, as one of the structs of bindings/calls.h. */
  struct<Field extends string>(fields: readonly Field[], values: Record<Field, number | boolean>): number {
    const address = this.room(8 * fields.length);
    this.core.memory.writeDoubles(
      address,
      fields.map((field) => Number(values[field])),
    );
    return address;
  }

  /** Room for a result. */
  room(bytes: number): number {
    const address = this.#next;
    this.#next += align(bytes);
    return address;
  }
}

/** Lends a Call with room for `arrays`, `resultBytes` more bytes and a struct, until `use` returns. */
export function withCall<T>(
  core: Core,
  arrays: readonly (Numbers | undefined)[],
  resultBytes: readonly number[],
  use: (call: Call) => T,
): T {
  const given = arrays.reduce((sum, array) => sum + align(array?.byteLength ?? 0), 0);
  const results = resultBytes.reduce((sum, bytes) => sum + align(bytes), 0);
  return core.memory.withScratch(given + results + kStructBytes, (address) => use(new Call(core, address)));
}

function align(bytes: number): number {
  return Math.ceil(bytes / 8) * 8;
}
