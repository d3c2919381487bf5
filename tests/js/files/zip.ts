/** Zip archives, honest ones and others: every size that a header states can be overridden. */
import { ByteWriter } from './bytes.js';

export interface ZipEntry {
  name: string;
  /** As stored: raw deflate data where `deflated`. */
  data: Uint8Array;
  /** Size before compression, where `deflated`. */
  inflatedBytes?: number;
  deflated?: boolean;
  /** What the central directory says in place of the data's own size. */
  claimedBytes?: number;
}

export function zip(entries: readonly ZipEntry[]): Uint8Array<ArrayBuffer> {
  const out = new ByteWriter();
  const directory = new ByteWriter();
  for (const { name, data, deflated = false, inflatedBytes = data.length, claimedBytes } of entries) {
    const encoded = new TextEncoder().encode(name);
    const at = out.length;
    // version, flags, method, time, date, checksum (not read), sizes, length of the name, no extra field
    const common = (to: ByteWriter) =>
      u16(to, 20, 0, deflated ? 8 : 0, 0, 0)
        .u32(0)
        .u32(claimedBytes ?? data.length)
        .u32(inflatedBytes);
    u16(common(out.u32(0x04034b50)), encoded.length, 0)
      .bytes(encoded)
      .bytes(data);
    u16(common(u16(directory.u32(0x02014b50), 20)), encoded.length, 0, 0, 0, 0)
      .u32(0)
      .u32(at)
      .bytes(encoded);
  }
  const start = out.length;
  out.bytes(directory.finish());
  u16(out.u32(0x06054b50), 0, 0, entries.length, entries.length)
    .u32(out.length - 12 - start)
    .u32(start);
  return u16(out, 0).finish();
}

function u16(to: ByteWriter, ...values: number[]): ByteWriter {
  for (const value of values) to.u8(value & 255).u8(value >> 8);
  return to;
}
