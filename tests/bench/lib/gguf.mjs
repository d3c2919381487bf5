/**
 * The header of a GGUF file (version 3) that holds one table, for benchmarks that load what they measure. The table's
 * bytes follow it at once: the header is padded to the alignment that the format assumes.
 */

const kAlignment = 32;
const kString = 8;

/** Number that GGUF gives to the formats that are loaded here. */
const kTypes = { F32: 0, F16: 1, Q4_0: 2, Q8_0: 8, Q4_K: 12, Q6_K: 14 };

const uint32 = (value) => new Uint8Array(Uint32Array.of(value).buffer);
const uint64 = (value) => new Uint8Array(BigUint64Array.of(BigInt(value)).buffer);

function string(text) {
  const bytes = new TextEncoder().encode(text);
  return [...uint64(bytes.length), ...bytes];
}

/** @returns the bytes before the table [rows, cols] of `format` (one of GGUF's names) */
export function ggufHeader(format, rows, cols) {
  const bytes = [
    ...new TextEncoder().encode('GGUF'),
    ...uint32(3),
    ...uint64(1), // tensors
    ...uint64(1), // metadata
    ...string('general.architecture'),
    ...uint32(kString),
    ...string('llama'),
    ...string('token_embd.weight'),
    ...uint32(2), // dimensions, the fastest first
    ...uint64(cols),
    ...uint64(rows),
    ...uint32(kTypes[format]),
    ...uint64(0), // where its bytes begin
  ];
  const padded = new Uint8Array(Math.ceil(bytes.length / kAlignment) * kAlignment);
  padded.set(bytes);
  return padded;
}

/** A whole file. */
export function gguf(format, rows, cols, bytes) {
  const header = ggufHeader(format, rows, cols);
  const file = new Uint8Array(header.length + bytes.length);
  file.set(header);
  file.set(bytes, header.length);
  return file;
}
