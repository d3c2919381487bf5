/**
 * One instance of the compiled core: its functions, its memory, and the way its failures become errors. Every
 * model has an instance of its own, because a WebAssembly memory never shrinks: only dropping the instance gives
 * memory back.
 */
import createModule from '../../build/wasm/id2vec.mjs';
import type { MainModule } from '../../build/wasm/id2vec.mjs';
import { EmbeddingError } from './errors.js';
import { Memory } from './memory.js';
import { compileModule } from './wasm.js';
import type { Isa, WasmOptions } from './wasm.js';

/** Compared at a time: what fits the memory that is at hand anyway. */
const kComparedBytes = 64 * 1024;

export class Core {
  readonly functions: MainModule;
  readonly memory: Memory;
  /** What the core's functions that choose kernels take. */
  readonly isa: string;

  private constructor(functions: MainModule, isa: Isa) {
    this.functions = functions;
    this.memory = new Memory(functions);
    this.isa = supportedIsa(functions, isa);
  }

  static async create(options: WasmOptions): Promise<Core> {
    const { module, isa } = await compileModule(options);
    return new Core(await instantiate(module), isa);
  }

  /** Throws the core's last failure if `code` says that there was one. */
  check(code: number): void {
    if (code !== 0) throw this.failure();
  }

  /** The result of a function that gives null on failure. */
  require<T>(result: T | null): T {
    if (result === null) throw this.failure();
    return result;
  }

  /** How many bytes of `bytes`, from the start, are the same as those at `address`. */
  equalBytes(address: number, bytes: Uint8Array): number {
    for (let at = 0; at < bytes.length; at += kComparedBytes) {
      const part = bytes.subarray(at, at + kComparedBytes);
      const equal = this.memory.withScratch(part.length, (scratch) => {
        this.memory.write(scratch, part);
        return this.functions.firstDifference(address + at, scratch, part.length);
      });
      if (equal < part.length) return at + equal;
    }
    return bytes.length;
  }

  /** The core's last failure as what JavaScript expects: wrong arguments are TypeError and RangeError. */
  failure(): Error {
    const code = this.functions.errorCode();
    const message = this.functions.errorMessage();
    if (code === 'invalid-argument') return new TypeError(message);
    if (code === 'out-of-range') return new RangeError(message);
    return new EmbeddingError(code, message);
  }
}

// A module that a caller brought may carry relaxed kernels although they compute wrong results here.
function supportedIsa(functions: MainModule, isa: Isa): string {
  const carried = functions.isas() as string[];
  if (isa === 'auto') {
    const right = carried.filter((name) => name !== 'relaxed' || functions.relaxedDotIsRight());
    return right.at(-1) ?? 'scalar';
  }
  if (carried.includes(isa)) return isa;
  const known = ['auto', ...carried].map((name) => `"${name}"`).join(', ');
  throw new EmbeddingError(
    'unsupported',
    `isa "${String(isa)}" is none of ${known}, which this module carries.`,
  );
}

// The glue waits for the instance forever if it is not told of a failure, hence the promise around it.
function instantiate(module: WebAssembly.Module): Promise<MainModule> {
  return new Promise((resolve, reject) => {
    const instantiateWasm = (
      imports: WebAssembly.Imports,
      receive: (instance: WebAssembly.Instance) => void,
    ): object => {
      WebAssembly.instantiate(module, imports).then(receive).catch(reject);
      return {};
    };
    createModule({ instantiateWasm }).then(resolve, reject);
  });
}
