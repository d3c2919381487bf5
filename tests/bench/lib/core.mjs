/** What the core says of its formats. Runs in Node and browsers. */
import { EmbeddingTable } from '../../../dist/index.js';

/** Name, block size and block bytes of every format whose rows are blocks. */
export async function blockFormats() {
  const { core } = await EmbeddingTable.create(new Float32Array(1), { dtype: 'F32', dim: 1 });
  return core.answer(core.functions.formats()).filter(({ name }) => !name.startsWith('AFFINE'));
}

/** Those of `names`, a list with commas or `all`. */
export async function chosenFormats(names) {
  const known = await blockFormats();
  return names === 'all' ? known : known.filter(({ name }) => names.split(',').includes(name));
}
