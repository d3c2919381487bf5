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

  /** `places`: of the arrays that lie in the core's memory. */
  constructor(
    private readonly core: Core,
    address: number,
    private readonly places: ReadonlyMap<Numbers, number>,
  ) {
    this.#next = address;
  }

  /** Copies an array in, or takes it where it is if that is the core's memory. */
  give(values: Numbers | undefined): number {
    if (values === undefined) return 0;
    const there = this.places.get(values);
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

/**
 * Lends a Call with room for `arrays`, which are all that it may be given, `resultBytes` more bytes and a struct, until
 * `use` returns.
 */
export function withCall<T>(
  core: Core,
  arrays: readonly (Numbers | undefined)[],
  resultBytes: readonly number[],
  use: (call: Call) => T,
): T {
  let bytes = kStructBytes;
  // Found at once: making room may grow the memory, which detaches the views.
  const places = new Map<Numbers, number>();
  for (const array of arrays) {
    if (array === undefined) continue;
    const there = core.memory.addressOf(array);
    if (there === undefined) bytes += align(array.byteLength);
    else places.set(array, there);
  }
  for (const result of resultBytes) bytes += align(result);
  return core.memory.withScratch(bytes, (address) => use(new Call(core, address, places)));
}

/** Floats on their way into the core: used where they are, if that is its memory, else copied piece by piece. */
export class GivenFloats {
  // Taken at once: a call may grow the memory, which detaches the view.
  readonly #address: number | undefined;

  constructor(
    private readonly core: Core,
    private readonly values: Float32Array,
  ) {
    this.#address = core.memory.addressOf(values);
  }

  /** What a call needs for `count` of them. */
  bytes(count: number): number {
    return this.#address === undefined ? 4 * count : 0;
  }

  /** Address of floats [at, at + count). */
  give(call: Call, at: number, count: number): number {
    if (this.#address !== undefined) return this.#address + 4 * at;
    const address = call.room(4 * count);
    this.core.memory.writeFloats(address, this.values.subarray(at, at + count));
    return address;
  }
}

/** Floats that the core computes: where they are to be, if that is its memory, else piece by piece, and copied out. */
export class ComputedFloats {
  readonly #address: number | undefined;
  readonly #length: number;

  constructor(
    private readonly core: Core,
    private readonly out: Float32Array,
  ) {
    this.#address = core.memory.addressOf(out);
    this.#length = out.length;
  }

  /** How many runs of `width` floats are computed at once, so that a large call leaves the memory small. */
  atOnce(width: number, least = 1): number {
    return this.#address === undefined ? Math.max(pieceOf(width), least) : Infinity;
  }

  /** How much room `count` of them need on their way. */
  bytes(count: number): number {
    return this.#address === undefined ? 4 * count : 0;
  }

  /** Floats [at, at + count), by way of `room`: `compute` gets their address, and returns the core's code. */
  fill(room: number, at: number, count: number, compute: (to: number) => number): void {
    if (this.#address !== undefined) return this.core.check(compute(this.#address + 4 * at));
    this.core.check(compute(room));
    this.core.memory.readFloats(room, count, this.out, at);
  }

  /** All of them, once they are computed. */
  get data(): Float32Array {
    if (this.#address === undefined) return this.out;
    return this.core.memory.floatsInPlace(this.#address, this.#length);
  }
}

/** Results are computed in pieces of at most this many bytes. */
const kPieceBytes = 4 << 20;

/** How many runs of `width` floats make a piece. */
export function pieceOf(width: number): number {
  return Math.max(1, Math.floor(kPieceBytes / (4 * Math.max(width, 1))));
}

/** But hidden vectors in no smaller pieces than this: kernels decode each row once for several of them. */
export const kHiddenAtOnce = 8;

function align(bytes: number): number {
  return Math.ceil(bytes / 8) * 8;
}
