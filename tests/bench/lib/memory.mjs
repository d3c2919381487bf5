/**
 * How fast a WebAssembly module of this engine reads and copies memory: the limit that lookup and logits are measured
 * against. The module is assembled here, so that nothing has to be compiled: `read(address, bytes)` xors all vectors of
 * a range (a multiple of 64 bytes), `copy(to, from, bytes)` is memory.copy, `write(address, bytes)` stores vectors, and
 * `rows(ids, count, rowBytes)` reads one word of every cache line of some rows of a table at address 0.
 * `products(turns)` needs no memory: it computes kProducts times eight products of 16 bits and adds them up, per turn.
 */

const kProducts = 12; // at once, so that none waits for another

const I32 = 0x7f;
const V128 = 0x7b;

/** LEB128, signed where constants need it. */
function leb(value, signed = false) {
  const bytes = [];
  for (;;) {
    const low = value & 127;
    value = signed ? value >> 7 : value >>> 7;
    const done = signed ? (value === 0 && low < 64) || (value === -1 && low >= 64) : value === 0;
    bytes.push(done ? low : low | 128);
    if (done) return bytes;
  }
}

const vector = (items) => [...leb(items.length), ...items.flat()];
const section = (id, bytes) => [id, ...leb(bytes.length), ...bytes];
const get = (local) => [0x20, ...leb(local)];
const set = (local) => [0x21, ...leb(local)];
const constant = (value) => [0x41, ...leb(value, true)];
const simd = (opcode) => [0xfd, ...leb(opcode)];
const load128 = (offset) => [...simd(0), 0, ...leb(offset)];
const xor128 = simd(0x51);
const lane = (index) => [...simd(0x1b), index];

function body(locals, code) {
  const bytes = [...vector(locals.map(([count, type]) => [...leb(count), type])), ...code, 0x0b];
  return [...leb(bytes.length), ...bytes];
}

/** Four sums, so that no xor waits for another. Locals: address, bytes, four vectors. */
function readBody() {
  const sums = [2, 3, 4, 5];
  const step = sums.map((sum, i) => [get(sum), get(0), load128(16 * i), xor128, set(sum)]);
  const advance = [get(0), constant(64), 0x6a, set(0), get(1), constant(64), 0x6b, 0x22, 1];
  const loop = [0x03, 0x40, step, advance, constant(0), 0x4a, 0x0d, 0, 0x0b]; // while bytes > 0
  const all = [get(2), get(3), xor128, get(4), xor128, get(5), xor128, set(2)];
  const fold = [0, 1, 2, 3].map((i) => [get(2), lane(i), i === 0 ? [] : 0x73]);
  return body([[4, V128]], [loop, all, fold].flat(Infinity));
}

function copyBody() {
  return body([], [get(0), get(1), get(2), [0xfc, 0x0a, 0, 0]].flat());
}

function writeBody() {
  const store = [0, 1, 2, 3].map((i) => [get(0), get(2), simd(0x0b), 0, ...leb(16 * i)]);
  const advance = [get(0), constant(64), 0x6a, set(0), get(1), constant(64), 0x6b, 0x22, 1];
  return body([[1, V128]], [0x03, 0x40, store, advance, constant(0), 0x4a, 0x0d, 0, 0x0b].flat(Infinity));
}

/** Locals: ids, count, bytes of a row; where it reads, where the row ends, the sum. */
function rowsBody() {
  const load = (address) => [get(address), 0x28, 0, 0];
  const start = [load(0), get(2), 0x6c, 0x22, 3, get(2), 0x6a, set(4)];
  const step = [load(3), get(5), 0x73, set(5), get(3), constant(64), 0x6a, 0x22, 3, get(4), 0x49];
  const row = [0x03, 0x40, step, 0x0d, 0, 0x0b]; // while the address is below the end
  const advance = [get(0), constant(4), 0x6a, set(0), get(1), constant(1), 0x6b, 0x22, 1];
  return body([[3, I32]], [0x03, 0x40, start, row, advance, 0x0d, 0, 0x0b, get(5)].flat(Infinity));
}

/** Locals: turns, sums, a factor. */
function productsBody() {
  const sums = Array.from({ length: kProducts }, (_, i) => 1 + i);
  const factor = 1 + kProducts;
  const start = [...sums, factor].map((local) => [get(0), simd(0x11), set(local)]);
  const step = sums.map((sum) => [get(sum), get(sum), get(factor), simd(0xba), simd(0xae), set(sum)]);
  const loop = [0x03, 0x40, step, get(0), constant(1), 0x6b, 0x22, 0, 0x0d, 0, 0x0b]; // while turns are left
  const all = sums.map((sum, i) => [get(sum), i === 0 ? [] : xor128]);
  return body([[kProducts + 1, V128]], [start, loop, all, lane(0)].flat(Infinity));
}

function assemble(pages) {
  const name = (text) => vector([...text].map((c) => [c.charCodeAt(0)]));
  const types = vector([
    [0x60, ...vector([[I32], [I32]]), ...vector([[I32]])],
    [0x60, ...vector([[I32], [I32], [I32]]), ...vector([])],
    [0x60, ...vector([[I32], [I32]]), ...vector([])],
    [0x60, ...vector([[I32], [I32], [I32]]), ...vector([[I32]])],
    [0x60, ...vector([[I32]]), ...vector([[I32]])],
  ]);
  const exported = vector([
    [...name('read'), 0, 0],
    [...name('copy'), 0, 1],
    [...name('write'), 0, 2],
    [...name('rows'), 0, 3],
    [...name('products'), 0, 4],
    [...name('memory'), 2, 0],
  ]);
  const header = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
  return new Uint8Array([
    ...header,
    ...section(1, types),
    ...section(3, vector([[0], [1], [2], [3], [4]])),
    ...section(5, vector([[0, ...leb(pages)]])),
    ...section(7, exported),
    ...section(10, vector([readBody(), copyBody(), writeBody(), rowsBody(), productsBody()])),
  ]);
}

/** Memory of its own, `bytes` long and written once, so that every page is there. */
export async function ownMemory(bytes) {
  const { instance } = await WebAssembly.instantiate(assemble(Math.ceil(bytes / 65536) + 1));
  const { read, copy, write, rows, products, memory } = instance.exports;
  new Uint8Array(memory.buffer).fill(0x5a);
  const behind = Math.ceil(bytes / 65536) * 65536; // a page for ids
  return {
    read: (count) => read(0, Math.floor(count / 64) * 64),
    /** From one half of the memory to the other. */
    copy: (count) => copy(Math.floor(bytes / 128) * 64, 0, count),
    write: (count) => write(Math.floor(bytes / 128) * 64, count),
    /** @returns a function that reads rows `ids` (16384 at most) of a table of such rows */
    rows: (ids, rowBytes) => {
      new Uint32Array(memory.buffer, behind, ids.length).set(ids);
      return () => rows(behind, ids.length, rowBytes);
    },
    /** `count` products of 16 bits, each added to a sum. */
    products: (count) => products(Math.ceil(count / 8 / kProducts)),
  };
}
