/**
 * From an `isa` to a compiled module: which of the files, where it lies, and how it is compiled. WebAssembly
 * cannot mix instruction sets in one module, so there is one file for engines with relaxed SIMD and one without;
 * both carry the scalar kernels, too. What most pages never call is in the `full` ones of each (see full_core.ts).
 */
import { EmbeddingError } from './errors.js';
import { relaxedDotIsRight } from './probe.js';
import { hasFileSystem, nodeModule } from './sources/node.js';

/** An instruction set, or the best one that computes right results here. */
export type Isa = 'auto' | 'scalar' | 'simd128' | 'relaxed';

/** Where the WebAssembly module comes from, where the default place will not do. */
export type WasmInput = string | URL | Response | Promise<Response> | BufferSource | WebAssembly.Module;

export interface WasmOptions {
  /** Default `auto`. */
  isa?: Isa;
  /**
   * The module, its bytes or where they are. Default: `id2vec.relaxed.wasm` or `id2vec.simd128.wasm` beside this
   * file. Runtimes that compile no bytes (workerd) import one of them statically and pass it here.
   */
  wasm?: WasmInput;
  /**
   * The same for the module that PyTorch, ONNX and npy files, `save` and `quantize` need. Default:
   * `id2vec.full.relaxed.wasm` or `id2vec.full.simd128.wasm` beside this file, loaded when it is needed.
   */
  fullWasm?: WasmInput;
}

export interface CompiledModule {
  module: WebAssembly.Module;
  /** What to ask the module's kernels for. */
  isa: Isa;
  kind: Kind;
}

/** `full`: with all containers, encoders and writers. */
export type Kind = 'common' | 'full';

/**
 * Compiles the module that `options` ask for; each file once per process.
 * @throws {EmbeddingError} `unsupported` where the engine lacks the instruction set, `wasm` where there is no module
 */
export async function compileModule(options: WasmOptions, kind: Kind = 'common'): Promise<CompiledModule> {
  const isa = options.isa ?? 'auto';
  const given = kind === 'full' ? options.fullWasm : options.wasm;
  if (isa === 'relaxed' && given === undefined && !relaxedDotIsRight()) {
    throw new EmbeddingError(
      'unsupported',
      'This engine has no relaxed SIMD, or computes wrong results with it: use isa "auto" or "simd128".',
    );
  }
  if (given !== undefined) return { module: await compileGiven(given), isa, kind };
  const relaxed = isa === 'relaxed' || (isa === 'auto' && relaxedDotIsRight());
  return { module: await compileFile(kind, relaxed ? 'relaxed' : 'simd128'), isa, kind };
}

// A response can be read once, and a table asks for its full module whenever it needs one.
const ofResponses = new WeakMap<object, Promise<WebAssembly.Module>>();

function compileGiven(input: WasmInput): Promise<WebAssembly.Module> {
  if (!(input instanceof Response || input instanceof Promise)) return compile(input);
  let module = ofResponses.get(input);
  if (module === undefined) ofResponses.set(input, (module = compile(input)));
  return module;
}

type Variant = 'relaxed' | 'simd128';

const compiled = new Map<string, Promise<WebAssembly.Module>>();

function compileFile(kind: Kind, variant: Variant): Promise<WebAssembly.Module> {
  const name = kind === 'full' ? `id2vec.full.${variant}.wasm` : `id2vec.${variant}.wasm`;
  let module = compiled.get(name);
  if (module === undefined) {
    module = compile(fileOf(kind, variant, name));
    compiled.set(name, module);
    module.catch(() => compiled.delete(name)); // the next load tries again
  }
  return module;
}

// Bundlers find the files by these expressions. Where import.meta.url is undefined, new URL throws.
const kFiles = {
  common: {
    relaxed: () => new URL('./id2vec.relaxed.wasm', import.meta.url),
    simd128: () => new URL('./id2vec.simd128.wasm', import.meta.url),
  },
  full: {
    relaxed: () => new URL('./id2vec.full.relaxed.wasm', import.meta.url),
    simd128: () => new URL('./id2vec.full.simd128.wasm', import.meta.url),
  },
};

function fileOf(kind: Kind, variant: Variant, name: string): URL {
  try {
    return kFiles[kind][variant]();
  } catch (cause) {
    const option = kind === 'full' ? 'fullWasm' : 'wasm';
    throw new EmbeddingError(
      'wasm',
      `This runtime does not say where ${name} lies: import it and pass it as the option "${option}".`,
      { cause },
    );
  }
}

async function compile(input: WasmInput): Promise<WebAssembly.Module> {
  const module = await input;
  if (module instanceof WebAssembly.Module) return module;
  if (module instanceof Response) return compileResponse(module);
  if (module instanceof ArrayBuffer || ArrayBuffer.isView(module)) {
    return WebAssembly.compile(module).catch(notAModule('What the option "wasm" or "fullWasm" holds', ''));
  }
  const url = toUrl(module);
  if (url.protocol === 'file:' && hasFileSystem()) {
    return WebAssembly.compile(await readModule(url)).catch(notAModule(url.href, ''));
  }
  return compileResponse(await fetchModule(url));
}

async function readModule(url: URL): Promise<Uint8Array<ArrayBuffer>> {
  const { readFile } = await nodeModule<typeof import('node:fs/promises')>('node:fs/promises');
  return readFile(url).catch((cause: unknown) => {
    const message = `${url.href} cannot be read: install the package again, or give the module as the option "wasm" or "fullWasm".`;
    throw new EmbeddingError('wasm', message, { cause });
  });
}

function toUrl(input: string | URL): URL {
  const base = (globalThis as { document?: { baseURI?: string } }).document?.baseURI;
  return input instanceof URL ? input : new URL(input, base ?? import.meta.url);
}

async function fetchModule(url: URL): Promise<Response> {
  try {
    return await fetch(url);
  } catch (cause) {
    throw new EmbeddingError(
      'wasm',
      `${url.href} cannot be fetched: check that the file is served, and that the network is there.`,
      { cause },
    );
  }
}

// Streaming compilation insists on the MIME type; many static hosts do not know it.
async function compileResponse(response: Response): Promise<WebAssembly.Module> {
  const name = response.url || 'The WebAssembly module';
  if (!response.ok) {
    throw new EmbeddingError(
      'wasm',
      `${name} was answered with status ${response.status}: check that it is served.`,
    );
  }
  const type = response.headers.get('content-type') ?? '';
  const failed = notAModule(name, ` (its type is "${type}")`);
  if (/^application\/wasm\b/.test(type)) return WebAssembly.compileStreaming(response).catch(failed);
  return response
    .arrayBuffer()
    .then((bytes) => WebAssembly.compile(bytes))
    .catch(failed);
}

// A server that answers everything with its start page is the usual reason.
function notAModule(name: string, what: string): (cause: unknown) => never {
  return (cause) => {
    throw new EmbeddingError(
      'wasm',
      `${name} is no WebAssembly module${what}: serve the file beside the package's JavaScript, or give its address ` +
        `as the option "wasm" or "fullWasm".`,
      { cause },
    );
  };
}
