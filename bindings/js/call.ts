/** Arguments and results of one call of the core, laid out one after the other in memory of that core. */
import type { Core } from './core.js';

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

  /** Room for a result. */
  room(bytes: number): number {
    const address = this.#next;
    this.#next += align(bytes);
    return address;
  }
}

/** Lends a Call with room for `arrays` and `resultBytes` more bytes, until `use` returns. */
export function withCall<T>(
  core: Core,
  arrays: readonly (Numbers | undefined)[],
  resultBytes: readonly number[],
  use: (call: Call) => T,
): T {
  const given = arrays.reduce((sum, array) => sum + align(array?.byteLength ?? 0), 0);
  const results = resultBytes.reduce((sum, bytes) => sum + align(bytes), 0);
  return core.memory.withScratch(given + results, (address) => use(new Call(core, address)));
}

function align(bytes: number): number {
  return Math.ceil(bytes / 8) * 8;
}
