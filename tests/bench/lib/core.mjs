/** The built WebAssembly module without the package around it: what only benchmarks ask for. */
import { readFile } from 'node:fs/promises';
import createModule from '../../../build/wasm/id2vec.mjs';

export async function openModule(isa) {
  const file = new URL(
    `../../../build/wasm/id2vec.${isa === 'relaxed' ? 'relaxed' : 'simd128'}.wasm`,
    import.meta.url,
  );
  const bytes = await readFile(file);
  return createModule({
    instantiateWasm(imports, receive) {
      WebAssembly.instantiate(bytes, imports).then(({ instance, module }) => receive(instance, module));
      return {};
    },
  });
}

/** Name, block size and block bytes of every format whose rows are blocks. */
export async function blockFormats() {
  const { formats } = await openModule('simd128');
  return formats().filter(({ name }) => !name.startsWith('AFFINE'));
}
