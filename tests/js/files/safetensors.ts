/** safetensors files: u64 header length, JSON header, data. */
import { ByteWriter } from './bytes.js';

export interface SafeTensor {
  name: string;
  dtype: 'F64' | 'F32' | 'F16' | 'BF16' | 'F8_E4M3' | 'I8' | 'U8' | 'I32' | 'I64' | 'U32';
  shape: number[];
  data: Uint8Array;
}

export function safetensors(tensors: readonly SafeTensor[]): Uint8Array<ArrayBuffer> {
  const header = new Map<string, object>();
  let offset = 0;
  for (const { name, dtype, shape, data } of tensors) {
    header.set(name, { dtype, shape, data_offsets: [offset, (offset += data.length)] });
  }
  const json = new TextEncoder().encode(JSON.stringify(Object.fromEntries(header)));
  const out = new ByteWriter().u64(json.length).bytes(json);
  for (const { data } of tensors) out.bytes(data);
  return out.finish();
}
