/** The core with all containers, encoders and writers. Its glue and its module are loaded when something needs them. */
import createModule from '../../build/wasm/id2vec.full.mjs';
import type { MainModule } from '../../build/wasm/id2vec.full.mjs';
import { Core, instantiate } from './core.js';
import { compileModule } from './wasm.js';
import type { WasmOptions } from './wasm.js';

export type FullCore = Core<MainModule>;

export async function createFullCore(options: WasmOptions): Promise<FullCore> {
  const compiled = await compileModule(options, 'full');
  return new Core(await instantiate(createModule, compiled.module), compiled, options);
}
