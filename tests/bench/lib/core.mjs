/** The built WebAssembly module without the package around it: what only benchmarks ask for. Runs in Node and browsers. */
import createModule from '../../../build/wasm/id2vec.mjs';

export async function openModule(isa) {
  const file = new URL(
    `../../../build/wasm/id2vec.${isa === 'relaxed' ? 'relaxed' : 'simd128'}.wasm`,
    import.meta.url,
  );
  const bytes = await read(file);
  return createModule({
    instantiateWasm(imports, receive) {
      WebAssembly.instantiate(bytes, imports).then(({ instance, module }) => receive(instance, module));
      return {};
    },
  });
}

async function read(file) {
  if (file.protocol !== 'file:') return (await fetch(file)).arrayBuffer();
  const { readFile } = await import('node:fs/promises');
  return readFile(file);
}

/** Name, block size and block bytes of every format whose rows are blocks. */
export async function blockFormats() {
  const { formats } = await openModule('simd128');
  return formats().filter(({ name }) => !name.startsWith('AFFINE'));
}

/** Those of `names`, a list with commas or `all`. */
export async function chosenFormats(names) {
  const known = await blockFormats();
  return names === 'all' ? known : known.filter(({ name }) => names.split(',').includes(name));
}
