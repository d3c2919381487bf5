/**
 * The one place that makes views on a core's memory. A view lives for one statement: when the memory grows, every
 * view of it is detached, and any call into the core may grow it.
 *
 * Addresses are byte offsets into that memory. Nothing here checks that an address belongs to the caller.
 */
import { EmbeddingError } from './errors.js';

/** What this file needs of the compiled module. `HEAPU8` is replaced by the glue whenever the memory grows. */
export interface Heap {
  readonly HEAPU8: Uint8Array;
  allocate(bytes: number): number;
  release(address: number): void;
}

/** The heap of a module without glue, from what it exports. */
export function heapOfExports(exports: {
  memory: WebAssembly.Memory;
  allocate(bytes: number): number;
  release(address: number): void;
}): Heap {
  return {
    get HEAPU8() {
      return new Uint8Array(exports.memory.buffer);
    },
    allocate: (bytes) => exports.allocate(bytes) >>> 0,
    release: (address) => exports.release(address),
  };
}

/** Calls that need no more scratch memory than this share one block, so that small lookups allocate nothing. */
const kSharedScratchBytes = 64 * 1024;

/** What is copied out of a memory as a whole goes in pieces of this size. */
const kCopyBytes = 4 << 20;

export class Memory {
  readonly #heap: Heap;
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  readonly #scratch: number;

  constructor(heap: Heap) {
    this.#heap = heap;
    this.#scratch = this.allocate(kSharedScratchBytes);
  }

  /** Size of the whole memory in bytes. It never shrinks. */
  get size(): number {
    return this.#heap.HEAPU8.byteLength;
  }

  /** @throws {EmbeddingError} `out-of-memory` */
  allocate(bytes: number): number {
    const address = bytes < 2 ** 32 ? this.#heap.allocate(Math.max(bytes, 1)) : 0;
    if (address !== 0) return address;
    throw new EmbeddingError(
      'out-of-memory',
      `There is no room for ${bytes} more bytes of WebAssembly memory: use fewer vectors per call, or free models.`,
    );
  }

  release(address: number): void {
    this.#heap.release(address);
  }

  /** Lends `bytes` bytes (8-byte aligned) until `use` returns. Must not be nested. */
  withScratch<T>(bytes: number, use: (address: number) => T): T {
    if (bytes <= kSharedScratchBytes) return use(this.#scratch);
    const address = this.allocate(bytes);
    try {
      return use(address);
    } finally {
      this.release(address);
    }
  }

  /** Copies of `bytes` bytes, piece after piece, and where in them each begins. */
  *pieces(address: number, bytes: number): Iterable<[at: number, piece: Uint8Array]> {
    for (let at = 0; at < bytes; at += kCopyBytes) {
      yield [at, this.bytes(address + at, Math.min(kCopyBytes, bytes - at))];
    }
  }

  /** Where a typed array lies in this memory; undefined if it lies elsewhere. */
  addressOf(array: ArrayBufferView): number | undefined {
    return array.buffer === this.#heap.HEAPU8.buffer ? array.byteOffset : undefined;
  }

  write(address: number, bytes: Uint8Array): void {
    this.#heap.HEAPU8.set(bytes, address);
  }

  writeFloats(address: number, values: ArrayLike<number>): void {
    new Float32Array(this.#heap.HEAPU8.buffer, address, values.length).set(values);
  }

  writeDoubles(address: number, values: ArrayLike<number>): void {
    new Float64Array(this.#heap.HEAPU8.buffer, address, values.length).set(values);
  }

  writeUint32s(address: number, values: ArrayLike<number>): void {
    new Uint32Array(this.#heap.HEAPU8.buffer, address, values.length).set(values);
  }

  /** A copy. */
  bytes(address: number, count: number): Uint8Array {
    return this.#heap.HEAPU8.slice(address, address + count);
  }

  /** A copy. */
  floats(address: number, count: number): Float32Array {
    return new Float32Array(this.#heap.HEAPU8.buffer, address, count).slice();
  }

  /** Copies `count` floats to `to[at]` and on. */
  readFloats(address: number, count: number, to: Float32Array, at: number): void {
    to.set(new Float32Array(this.#heap.HEAPU8.buffer, address, count), at);
  }

  readInt32s(address: number, count: number, to: Int32Array, at: number): void {
    to.set(new Int32Array(this.#heap.HEAPU8.buffer, address, count), at);
  }

  /** A copy. */
  uint32s(address: number, count: number): Uint32Array {
    return new Uint32Array(this.#heap.HEAPU8.buffer, address, count).slice();
  }

  /** Decodes UTF-8; bytes that are none become U+FFFD. */
  text(address: number, count: number): string {
    return this.#decoder.decode(this.#heap.HEAPU8.subarray(address, address + count));
  }

  /**
   * The exception: a view to hand to a caller, who was told to ask for it anew after each call.
   * @see HeapFloats
   */
  floatsInPlace(address: number, count: number): Float32Array {
    return new Float32Array(this.#heap.HEAPU8.buffer, address, count);
  }
}
