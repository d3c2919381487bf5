/**
 * From an `isa` to a compiled module: which of the files, where it lies, and how it is compiled. WebAssembly
 * cannot mix instruction sets in one module, so there is one file for engines with relaxed SIMD and one without;
 * both carry the scalar kernels, too. What quantized GGUF models hardly call is in the `extra` part of each, which joins it
 * in its memory (Core.whole); what most pages never call, in the `full` ones (see full_core.ts).
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
   * The same for its second part, which safetensors files, F32 tables and geometry need. Default:
   * `id2vec.extra.relaxed.wasm` or `id2vec.extra.simd128.wasm` beside this file, loaded when it is needed.
   */
  extraWasm?: WasmInput;
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

/** A file is known by the option that stands in for it. */
type Option = 'wasm' | 'extraWasm' | 'fullWasm';

/** What one file is compiled for. */
type Variant = 'relaxed' | 'simd128';

/**
 * Compiles the module that `options` ask for; each file once per process.
 * @throws {EmbeddingError} `unsupported` where the engine lacks the instruction set, `wasm` where there is no module
 */
export async function compileModule(options: WasmOptions, kind: Kind = 'common'): Promise<CompiledModule> {
  const isa = options.isa ?? 'auto';
  const option = kind === 'full' ? 'fullWasm' : 'wasm';
  const given = options[option];
  if (isa === 'relaxed' && given === undefined && !relaxedDotIsRight()) {
    throw new EmbeddingError(
      'unsupported',
      'This engine has no relaxed SIMD, or computes wrong results with it: use isa "auto" or "simd128".',
    );
  }
  if (given !== undefined) return { module: await compileGiven(given, option), isa, kind };
  const relaxed = isa === 'relaxed' || (isa === 'auto' && relaxedDotIsRight());
  return { module: await compileFile(option, relaxed ? 'relaxed' : 'simd128'), isa, kind };
}

/**
 * Compiles the second part of `first`, a common module.
 * @throws {EmbeddingError} `wasm` where there is none, or where it is one of another build
 */
export async function compileExtra(
  options: WasmOptions,
  first: WebAssembly.Module,
  variant: Variant,
): Promise<WebAssembly.Module> {
  const { extraWasm } = options;
  const extra = await (extraWasm === undefined
    ? compileFile('extraWasm', variant)
    : compileGiven(extraWasm, 'extraWasm'));
  const build = buildOf(first);
  if (build !== '' && build === buildOf(extra)) return extra;
  throw new EmbeddingError(
    'wasm',
    `The two parts of the WebAssembly module are of two builds: take "wasm" and "extraWasm" from one release, and both ` +
      `for relaxed SIMD or both not (${variant} is what "wasm" is for).`,
  );
}

/** scripts/cut-module.mjs writes it into both parts. */
function buildOf(module: WebAssembly.Module): string {
  const [section] = WebAssembly.Module.customSections(module, 'build');
  return section === undefined ? '' : new Uint8Array(section).join();
}

// A response can be read once, and a table asks for its full module whenever it needs one.
const ofResponses = new WeakMap<object, Promise<WebAssembly.Module>>();

function compileGiven(input: WasmInput, option: Option): Promise<WebAssembly.Module> {
  if (!(input instanceof Response || input instanceof Promise)) return compile(input, option);
  let module = ofResponses.get(input);
  if (module === undefined) ofResponses.set(input, (module = compile(input, option)));
  return module;
}

const compiled = new Map<string, Promise<WebAssembly.Module>>();

function compileFile(option: Option, variant: Variant): Promise<WebAssembly.Module> {
  const name = `${option} ${variant}`;
  let module = compiled.get(name);
  if (module === undefined) {
    module = compile(fileOf(option, variant), option);
    compiled.set(name, module);
    module.catch(() => compiled.delete(name)); // the next load tries again
  }
  return module;
}

// Bundlers find the files by these expressions. Where import.meta.url is undefined, new URL throws.
const kFiles = {
  wasm: {
    relaxed: () => new URL('./id2vec.relaxed.wasm', import.meta.url),
    simd128: () => new URL('./id2vec.simd128.wasm', import.meta.url),
  },
  extraWasm: {
    relaxed: () => new URL('./id2vec.extra.relaxed.wasm', import.meta.url),
    simd128: () => new URL('./id2vec.extra.simd128.wasm', import.meta.url),
  },
  fullWasm: {
    relaxed: () => new URL('./id2vec.full.relaxed.wasm', import.meta.url),
    simd128: () => new URL('./id2vec.full.simd128.wasm', import.meta.url),
  },
};

function fileOf(option: Option, variant: Variant): URL {
  try {
    return kFiles[option][variant]();
  } catch (cause) {
    throw new EmbeddingError(
      'wasm',
      `This runtime does not say where the WebAssembly module lies: import its file (${variant}) and pass it as the ` +
        `option "${option}".`,
      { cause },
    );
  }
}

async function compile(input: WasmInput, option: Option): Promise<WebAssembly.Module> {
  const module = await input;
  if (module instanceof WebAssembly.Module) return module;
  if (module instanceof Response) return compileResponse(module, option);
  if (module instanceof ArrayBuffer || ArrayBuffer.isView(module)) {
    return WebAssembly.compile(module).catch(notAModule(`What the option "${option}" holds`, '', option));
  }
  const url = toUrl(module);
  if (url.protocol === 'file:' && hasFileSystem()) {
    return WebAssembly.compile(await readModule(url, option)).catch(notAModule(url.href, '', option));
  }
  return compileResponse(await fetchModule(url), option);
}

async function readModule(url: URL, option: Option): Promise<Uint8Array<ArrayBuffer>> {
  const { readFile } = await nodeModule<typeof import('node:fs/promises')>('node:fs/promises');
  return readFile(url).catch((cause: unknown) => {
    const message = `${url.href} cannot be read: install the package again, or give the module as the option "${option}".`;
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
async function compileResponse(response: Response, option: Option): Promise<WebAssembly.Module> {
  const name = response.url || 'The WebAssembly module';
  if (!response.ok) {
    throw new EmbeddingError(
      'wasm',
      `${name} was answered with status ${response.status}: check that it is served.`,
    );
  }
  const type = response.headers.get('content-type') ?? '';
  const failed = notAModule(name, ` (its type is "${type}")`, option);
  if (/^application\/wasm\b/.test(type)) return WebAssembly.compileStreaming(response).catch(failed);
  return response
    .arrayBuffer()
    .then((bytes) => WebAssembly.compile(bytes))
    .catch(failed);
}

// A server that answers everything with its start page is the usual reason.
function notAModule(name: string, what: string, option: Option): (cause: unknown) => never {
  return (cause) => {
    throw new EmbeddingError(
      'wasm',
      `${name} is no WebAssembly module${what}: serve the file beside the package's JavaScript, or give its address ` +
        `as the option "${option}".`,
      { cause },
    );
  };
}
