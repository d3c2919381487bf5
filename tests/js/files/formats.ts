/**
 * Formats decoded in double precision, straight from their published definitions: shares no code with the core.
 * Each also says how random bytes become valid rows.
 */
export interface TestFormat {
  ggmlType: number;
  blockSize: number;
  blockBytes: number;
  /** Weight i of the block that starts at byte `at`. */
  weight(bytes: DataView, at: number, i: number): number;
  /** Where in a block its f16 scales lie. */
  scales: readonly number[];
}

export const formats = {
  F32: {
    ggmlType: 0,
    blockSize: 1,
    blockBytes: 4,
    scales: [],
    weight: (bytes: DataView, at: number) => bytes.getFloat32(at, true),
  },
  F16: {
    ggmlType: 1,
    blockSize: 1,
    blockBytes: 2,
    scales: [0],
    weight: (bytes: DataView, at: number) => half(bytes.getUint16(at, true)),
  },
  BF16: {
    ggmlType: 30,
    blockSize: 1,
    blockBytes: 2,
    scales: [],
    weight: (bytes: DataView, at: number) => bfloat(bytes.getUint16(at, true)),
  },
  // scale · q
  Q8_0: {
    ggmlType: 8,
    blockSize: 32,
    blockBytes: 34,
    scales: [0],
    weight: (bytes: DataView, at: number, i: number) =>
      half(bytes.getUint16(at, true)) * bytes.getInt8(at + 2 + i),
  },
  // scale · (q − 8); low nibbles are weights 0 to 15, high nibbles 16 to 31
  Q4_0: {
    ggmlType: 2,
    blockSize: 32,
    blockBytes: 18,
    scales: [0],
    weight(bytes: DataView, at: number, i: number) {
      const byte = bytes.getUint8(at + 2 + (i % 16));
      return half(bytes.getUint16(at, true)) * ((i < 16 ? byte & 15 : byte >> 4) - 8);
    },
  },
} satisfies Record<string, TestFormat>;

export type FormatName = keyof typeof formats;
export const formatNames = Object.keys(formats) as FormatName[];

/** Row `row` of a table of width `dim`, in double precision (all values here are exact float32 numbers, too). */
export function decodeRow(format: FormatName, table: Uint8Array, dim: number, row: number): number[] {
  const { blockSize, blockBytes, weight } = formats[format] as TestFormat;
  const view = new DataView(table.buffer, table.byteOffset, table.byteLength);
  const start = row * rowBytes(format, dim);
  return Array.from({ length: dim }, (_, i) =>
    weight(view, start + Math.floor(i / blockSize) * blockBytes, i % blockSize),
  );
}

export function rowBytes(format: FormatName, dim: number): number {
  const { blockSize, blockBytes } = formats[format];
  return (dim / blockSize) * blockBytes;
}

/** A table of random weights of magnitude about 1; the same for the same seed. */
export function randomTable(
  format: FormatName,
  rows: number,
  dim: number,
  seed: number,
): Uint8Array<ArrayBuffer> {
  const random = randomNumbers(seed);
  const bytes = new Uint8Array(rows * rowBytes(format, dim));
  if (format === 'F32' || format === 'BF16') fillFloats(bytes, formats[format].blockBytes, random);
  else fillBlocks(bytes, formats[format], random);
  return bytes;
}

// The upper `width` bytes of float32 numbers in [−1, 1).
function fillFloats(bytes: Uint8Array, width: number, random: () => number): void {
  const float = new DataView(new ArrayBuffer(4));
  for (let at = 0; at < bytes.length; at += width) {
    float.setFloat32(0, random() * 2 - 1, true);
    bytes.set(new Uint8Array(float.buffer, 4 - width, width), at);
  }
}

// Any bits, but for the scales: exponents 2⁻⁶ … 2⁻¹, any mantissa and sign; no infinities, no NaN.
function fillBlocks(bytes: Uint8Array, format: TestFormat, random: () => number): void {
  const view = new DataView(bytes.buffer);
  for (let at = 0; at < bytes.length; at++) bytes[at] = random() * 256;
  for (let block = 0; block < bytes.length; block += format.blockBytes) {
    for (const at of format.scales) {
      const sign = random() < 0.5 ? 0x8000 : 0;
      const exponent = 9 + Math.floor(random() * 6);
      view.setUint16(block + at, sign | (exponent << 10) | (random() * 1024), true);
    }
  }
}

/** Uniform in [0, 1): mulberry32. */
export function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

// IEEE 754 binary16: sign, 5 bits of exponent (bias 15), 10 of mantissa.
function half(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const mantissa = bits & 1023;
  if (exponent === 31) return mantissa ? NaN : sign * Infinity;
  return exponent === 0 ? sign * mantissa * 2 ** -24 : sign * (1024 + mantissa) * 2 ** (exponent - 25);
}

// The upper half of a binary32.
function bfloat(bits: number): number {
  const view = new DataView(new ArrayBuffer(4));
  view.setUint32(0, bits << 16);
  return view.getFloat32(0);
}
