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

type Value = string | number | string[];

const kString = 8;
const kArray = 9;
const kUint32 = 4;

export function gguf(
  tensors: readonly GgufTensor[],
  metadata: Readonly<Record<string, Value>> = { 'general.architecture': 'llama' },
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
  } else {
    out.u32(kArray).u32(kString).u64(value.length);
    for (const item of value) writeString(out, item);
  }
}

function writeString(out: ByteWriter, text: string): ByteWriter {
  const bytes = utf8(text);
  return out.u64(bytes.length).bytes(bytes);
}

function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
