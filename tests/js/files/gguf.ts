/** GGUF version 3 files, written from the description of the format: small ones that tests make on the fly. */
import { ByteWriter } from './bytes.js';
import { formats } from './formats.js';
import type { FormatName } from './formats.js';

export interface GgufTensor {
  name: string;
  dtype: FormatName;
  /** Row-major, [V, d]. */
  shape: number[];
  data: Uint8Array;
}

export type Metadata = Readonly<Record<string, Value>>;
type Numbers = Uint8Array | Int32Array | Float32Array;
type Value = string | number | boolean | string[] | Numbers;

const kUint8 = 0;
const kUint32 = 4;
const kInt32 = 5;
const kFloat32 = 6;
const kBool = 7;
const kString = 8;
const kArray = 9;

export function gguf(
  tensors: readonly GgufTensor[],
  metadata: Metadata = { 'general.architecture': 'llama' },
  alignment = 32,
): Uint8Array<ArrayBuffer> {
  const out = new ByteWriter().bytes(utf8('GGUF')).u32(3).u64(tensors.length);
  const entries = Object.entries({
    ...metadata,
    ...(alignment === 32 ? {} : { 'general.alignment': alignment }),
  });
  out.u64(entries.length);
  for (const [key, value] of entries) writeValue(writeString(out, key), value);
  let offset = 0;
  for (const { name, dtype, shape, data } of tensors) {
    writeString(out, name).u32(shape.length);
    for (const size of [...shape].reverse()) out.u64(size);
    out.u32(formats[dtype].ggmlType).u64(offset);
    offset += Math.ceil(data.length / alignment) * alignment;
  }
  out.padTo(alignment);
  for (const { data } of tensors) out.bytes(data).padTo(alignment);
  return out.finish();
}

function writeValue(out: ByteWriter, value: Value): void {
  if (typeof value === 'number') {
    out.u32(kUint32).u32(value);
  } else if (typeof value === 'string') {
    writeString(out.u32(kString), value);
  } else if (typeof value === 'boolean') {
    out.u32(kBool).bytes(Uint8Array.of(Number(value)));
  } else if (Array.isArray(value)) {
    out.u32(kArray).u32(kString).u64(value.length);
    for (const item of value) writeString(out, item);
  } else {
    const type = value instanceof Float32Array ? kFloat32 : value instanceof Int32Array ? kInt32 : kUint8;
    out.u32(kArray).u32(type).u64(value.length);
    out.bytes(new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
  }
}

function writeString(out: ByteWriter, text: string): ByteWriter {
  const bytes = utf8(text);
  return out.u64(bytes.length).bytes(bytes);
}

function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
