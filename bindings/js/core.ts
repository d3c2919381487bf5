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

/** What fits the memory that is at hand anyway. */
const kStagedBytes = 64 * 1024;

export class Core {
  readonly functions: MainModule;
  readonly memory: Memory;
  /** What the core's functions that choose kernels take. */
  readonly isa: string;

  private constructor(
    functions: MainModule,
    isa: Isa,
    /** To be instantiated again in another thread. */
    readonly module: WebAssembly.Module,
  ) {
    this.functions = functions;
    this.memory = new Memory(functions);
    this.isa = supportedIsa(functions, isa);
  }

  static async create(options: WasmOptions): Promise<Core> {
    const { module, isa } = await compileModule(options);
    return new Core(await instantiate(module), isa, module);
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

  /**
   * Lends `bytes` to the core's functions in pieces: `use` gets a piece's address, its length and how much came
   * before it. Ends early, with false, once `use` returns false.
   */
  staged(bytes: Uint8Array, use: (address: number, count: number, done: number) => boolean): boolean {
    for (let done = 0; done < bytes.length; done += kStagedBytes) {
      const part = bytes.subarray(done, done + kStagedBytes);
      const goOn = this.memory.withScratch(part.length, (address) => {
        this.memory.write(address, part);
        return use(address, part.length, done);
      });
      if (!goOn) return false;
    }
    return true;
  }

  /** How many bytes of `bytes`, from the start, are the same as those at `address`. */
  equalBytes(address: number, bytes: Uint8Array): number {
    let equal = 0;
    this.staged(bytes, (part, count, done) => {
      const same = this.functions.firstDifference(address + done, part, count);
      equal = done + same;
      return same === count;
    });
    return equal;
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
