// A folder as a model repository has it: model.safetensors with one F32 table, and tokenizer.json.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Layout of safetensors: u64 length of the header, the header as JSON, the bytes. */
export function layOut(folder, { rows, dim, tokenizer, config }) {
  mkdirSync(folder, { recursive: true });
  const bytes = rows.length * dim * 4;
  const tensors = { embeddings: { dtype: 'F32', shape: [rows.length, dim], data_offsets: [0, bytes] } };
  const json = Buffer.from(JSON.stringify(tensors));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(json.length));
  const data = new Float32Array(rows.length * dim);
  rows.forEach((row, i) => data.set(row, i * dim));
  writeFileSync(join(folder, 'model.safetensors'), Buffer.concat([length, json, Buffer.from(data.buffer)]));
  writeFileSync(join(folder, 'tokenizer.json'), JSON.stringify(tokenizer));
  writeFileSync(join(folder, 'config.json'), JSON.stringify(config));
  return folder;
}
