/**
 * How fast this engine reads and copies memory: the limit that lookup and logits are measured against. A module of
 * two functions, written out: `read(address, bytes)` xors all vectors of a range, 64 bytes at a time, and
 * `copy(to, from, bytes)` is `memory.copy`.
 */
const kModule = Uint8Array.of(
  ...[0, 97, 115, 109, 1, 0, 0, 0], // magic, version
  ...[1, 13, 2, 96, 2, 127, 127, 1, 127, 96, 3, 127, 127, 127, 0], // types: (i32, i32) → i32, (i32, i32, i32) → ()
  ...[3, 3, 2, 0, 1], // one function of each
  ...[5, 3, 1, 0, 1], // a memory of one page
  ...[7, 24, 3, 4, 114, 101, 97, 100, 0, 0, 4, 99, 111, 112, 121, 0, 1], // exports: "read", "copy",
  ...[6, 109, 101, 109, 111, 114, 121, 2, 0], // "memory"
  ...[10, 130, 1, 2, 115, 1, 4, 123, 3, 64], // code of read: four v128 locals (2 to 5), loop
  ...[32, 2, 32, 0, 253, 0, 0, 0, 253, 81, 33, 2], // local 2 ^= v128 at address
  ...[32, 3, 32, 0, 253, 0, 0, 16, 253, 81, 33, 3], // local 3 ^= v128 at address + 16
  ...[32, 4, 32, 0, 253, 0, 0, 32, 253, 81, 33, 4],
  ...[32, 5, 32, 0, 253, 0, 0, 48, 253, 81, 33, 5],
  ...[32, 0, 65, 192, 0, 106, 33, 0], // address += 64
  ...[32, 1, 65, 192, 0, 107, 34, 1, 65, 0, 74, 13, 0, 11], // bytes −= 64; again while bytes > 0
  ...[32, 2, 32, 3, 253, 81, 32, 4, 253, 81, 32, 5, 253, 81, 33, 2], // local 2 ^= 3 ^ 4 ^ 5
  ...[32, 2, 253, 27, 0, 32, 2, 253, 27, 1, 115], // its lanes, xored into one
  ...[32, 2, 253, 27, 2, 115, 32, 2, 253, 27, 3, 115, 11],
  ...[12, 0, 32, 0, 32, 1, 32, 2, 252, 10, 0, 0, 11], // code of copy
);
const kPageBytes = 65536;

export interface MemorySpeed {
  read(bytes: number): void;
  /** Half of the memory at most. */
  copy(bytes: number): void;
}

/** Memory of at least `bytes` bytes, all of it written once, so that it is really there. */
export async function memorySpeed(bytes: number): Promise<MemorySpeed> {
  const { instance } = await WebAssembly.instantiate(kModule);
  const { read, copy, memory } = instance.exports as {
    read: (address: number, bytes: number) => number;
    copy: (to: number, from: number, bytes: number) => void;
    memory: WebAssembly.Memory;
  };
  const half = Math.ceil(bytes / 2 / kPageBytes) * kPageBytes;
  memory.grow((2 * half) / kPageBytes);
  for (let at = 0; at < 2 * half; at += kPageBytes) copy(at + kPageBytes, 0, kPageBytes);
  return {
    read: (count) => void read(0, Math.floor(count / 64) * 64),
    copy: (count) => copy(half, 0, Math.min(count, half)),
  };
}
