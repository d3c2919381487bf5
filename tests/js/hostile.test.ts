// Files that are not what they say: one clear error each, and the next good file loads.
import { EmbeddingError, EmbeddingModel } from 'id2vec';
import { describe, expect, it } from 'vitest';
import { ByteWriter } from './files/bytes.js';
import { randomTable } from './files/formats.js';
import { gguf } from './files/gguf.js';
import { safetensors } from './files/safetensors.js';

const table = randomTable('Q8_0', 10, 32, 1);
const good = gguf([{ name: 'token_embd.weight', dtype: 'Q8_0', shape: [10, 32], data: table }]);

function changed(change: (view: DataView) => void): Uint8Array {
  const copy = good.slice();
  change(new DataView(copy.buffer));
  return copy;
}

/** Where the name of the one tensor starts. */
const nameAt = new TextDecoder('latin1').decode(good).indexOf('token_embd.weight');
const typeAt = nameAt + 'token_embd.weight'.length + 4 + 2 * 8;

const lyingHeader = safetensors([
  { name: 'wte.weight', dtype: 'F32', shape: [2, 2], data: new Uint8Array(16) },
]);
new DataView(lyingHeader.buffer).setBigUint64(0, 1n << 40n, true);

const hostile: [string, Uint8Array, RegExp][] = [
  ['an empty file', new Uint8Array(0), /./],
  ['a GGUF that ends in its header', good.slice(0, nameAt + 4), /ends at byte/],
  ['a GGUF that ends in its weights', good.slice(0, good.length - 40), /end/],
  ['a wrong magic', changed((view) => view.setUint8(0, 0x48)), /./],
  ['an unknown version', changed((view) => view.setUint32(4, 99, true)), /99/],
  ['an unknown type', changed((view) => view.setUint32(typeAt, 4, true)), /4/],
  ['2⁶⁰ tensors', changed((view) => view.setBigUint64(8, 1n << 60n, true)), /./],
  ['a name of 1 GiB', changed((view) => view.setBigUint64(nameAt - 8, 1n << 30n, true)), /./],
  ['a header that lies about its length', lyingHeader, /./],
  ['a web page', new TextEncoder().encode('<!doctype html><html><body>Not found</body></html>'), /./],
  ['zeros', new ByteWriter().zeros(4096).finish(), /./],
];

describe.each(hostile)('%s', (_, bytes, message) => {
  it('is refused with one sentence, and a good file loads next', async () => {
    const failure = await EmbeddingModel.load(bytes).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(EmbeddingError);
    const { code, message: text } = failure as EmbeddingError;
    expect(['truncated', 'malformed', 'unsupported', 'limit', 'not-found']).toContain(code);
    expect(text).toMatch(message);
    expect(text).not.toContain('\n');
    using model = await EmbeddingModel.load(good);
    expect((await model.lookup([9])).dims).toEqual([1, 32]);
  });
});
