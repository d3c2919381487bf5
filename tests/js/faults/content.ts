/**
 * Files that exist only as a formula, so that a server can offer gigabytes and a test can know any byte of them.
 *
 *   pattern-SIZE.bin                      bytes that differ from place to place, also beyond 2³²
 *   table-VxD-before-B-after-A.safetensors
 *                                         `model.embed_tokens.weight` F16 [V, d], with B bytes of another tensor
 *                                         in front of it and A behind
 */
export interface VirtualFile {
  size: number;
  /** Fills `into` with the bytes from `start` on. */
  fill(into: Uint8Array, start: number): void;
}

/** Where the table of a `table-…` file lies. */
export interface VirtualTable extends VirtualFile {
  rows: number;
  columns: number;
  /** Of the first weight. */
  offset: number;
  headerBytes: number;
}

export function virtualFile(name: string): VirtualFile | undefined {
  const pattern = /^pattern-(\d+)\.bin$/.exec(name);
  if (pattern) return { size: Number(pattern[1]), fill: fillPattern };
  return virtualTable(name);
}

export function virtualTable(name: string): VirtualTable | undefined {
  const match = /^table-(\d+)x(\d+)-before-(\d+)-after-(\d+)\.safetensors$/.exec(name);
  if (!match) return undefined;
  const [rows, columns, before, after] = match.slice(1).map(Number) as [number, number, number, number];
  const bytes = rows * columns * 2;
  const json = JSON.stringify({
    'model.layers.0.mlp.up_proj.weight': { dtype: 'U8', shape: [before], data_offsets: [0, before] },
    'model.embed_tokens.weight': {
      dtype: 'F16',
      shape: [rows, columns],
      data_offsets: [before, before + bytes],
    },
    'model.layers.1.mlp.up_proj.weight': {
      dtype: 'U8',
      shape: [after],
      data_offsets: [before + bytes, before + bytes + after],
    },
  });
  const text = new TextEncoder().encode(json.padEnd(Math.ceil(json.length / 8) * 8));
  const header = new Uint8Array(8 + text.length);
  new DataView(header.buffer).setBigUint64(0, BigInt(text.length), true);
  header.set(text, 8);
  const offset = header.length + before;
  return {
    rows,
    columns,
    offset,
    headerBytes: header.length,
    size: offset + bytes + after,
    fill(into, start) {
      fillWeights(into, start - offset);
      if (start < header.length) into.set(header.subarray(start, start + into.length));
    },
  };
}

/** Weight `index` of a virtual table: exactly representable in F16, between 1 and 2. */
export function weightAt(index: number): number {
  return 1 + weightBits(index) / 1024;
}

export function patternBytes(start: number, end: number): Uint8Array {
  const bytes = new Uint8Array(end - start);
  fillPattern(bytes, start);
  return bytes;
}

function weightBits(index: number): number {
  const high = Math.floor(index / 1024);
  return (index * 37 + high * 11 + Math.floor(high / 1024) * 5) & 1023;
}

// `start` counts from the first weight and may be negative: tensors around the table are of the same stuff.
function fillWeights(into: Uint8Array, start: number): void {
  const odd = ((start % 2) + 2) % 2;
  const first = (start - odd) / 2;
  // One weight more at each end, so that the range may begin and end inside of one.
  const bits = new Uint16Array(Math.ceil(into.length / 2) + 1);
  for (let i = 0; i < bits.length; i += 1) bits[i] = 0x3c00 | weightBits(first + i);
  into.set(new Uint8Array(bits.buffer, odd, into.length));
}

function fillPattern(into: Uint8Array, start: number): void {
  for (let i = 0; i < into.length; i += 1) {
    const at = start + i;
    const block = Math.floor(at / 256);
    into[i] = at * 31 + block * 17 + Math.floor(block / 256) * 7 + Math.floor(at / 2 ** 32) * 101;
  }
}
