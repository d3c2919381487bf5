/**
 * One instance of the compiled core: its functions, its memory, and the way its failures become errors. Every
 * model has an instance of its own, because a WebAssembly memory never shrinks: only dropping the instance gives
 * memory back.
 */
import createModule from '../../build/wasm/id2vec.mjs';
import type { MainModule } from '../../build/wasm/id2vec.mjs';
import type { MainModule as FullModule } from '../../build/wasm/id2vec.full.mjs';
import { readAnswer } from './answer.js';
import { EmbeddingError } from './errors.js';
import { Handle } from './handle.js';
import { Memory } from './memory.js';
import { compileExtra, compileModule } from './wasm.js';
import type { CompiledModule, Kind, WasmOptions } from './wasm.js';

/** What fits the memory that is at hand anyway. */
const kStagedBytes = 64 * 1024;

/** A module's functions as its glue gives them, and as the module exports them, nameless. */
interface Instance<F> {
  functions: F;
  exports: WebAssembly.Exports;
}

/** What all modules have; `startExtra`, where there is a second part. */
type Functions = Omit<MainModule, 'startExtra'> & Partial<Pick<MainModule, 'startExtra'>>;

export class Core<F extends Functions = Functions> {
  readonly functions: F;
  readonly memory: Memory;
  /** What the core's functions that choose kernels take. */
  readonly isa: string;
  readonly kind: Kind;
  readonly #module: WebAssembly.Module;
  readonly #exports: WebAssembly.Exports;
  #whole: Promise<void> | undefined;
  #isWhole: boolean;

  constructor(
    { functions, exports }: Instance<F>,
    { module, isa, kind }: CompiledModule,
    /** What it was made with, for another one of its kind. */
    readonly options: WasmOptions,
  ) {
    this.functions = functions;
    this.kind = kind;
    this.#isWhole = kind === 'full';
    this.#module = module;
    this.#exports = exports;
    this.memory = new Memory(functions);
    this.isa = this.#supportedIsa(isa);
  }

  /** One that reads GGUF, and safetensors once it is whole. */
  static async create(options: WasmOptions): Promise<Core> {
    const compiled = await compileModule(options);
    return new Core(await instantiate(createModule, compiled.module), compiled, options);
  }

  /** Brings in the second part of a common module: safetensors, geometry, training. It works on the memory of the first. */
  whole(): Promise<void> {
    this.#whole ??= this.#join().catch((error: unknown) => {
      this.#whole = undefined; // the next call tries again
      throw error;
    });
    return this.#whole;
  }

  async #join(): Promise<void> {
    if (this.#isWhole) return;
    const isRelaxed = this.#carried().includes('relaxed');
    const extra = await compileExtra(this.options, this.#module, isRelaxed ? 'relaxed' : 'simd128');
    await WebAssembly.instantiate(extra, { a: this.#exports });
    this.functions.startExtra?.();
    this.#isWhole = true;
  }

  /** The functions of a core that is whole: those of a full one, or geometry and training beside its own. */
  async allFunctions(): Promise<FullModule> {
    await this.whole();
    return this.functions as unknown as FullModule;
  }

  /** What a thread that has rows of its own needs: tables, but no headers. */
  async workerModule(): Promise<WebAssembly.Module> {
    return this.kind === 'common' ? this.#module : (await compileModule(this.options)).module;
  }

  /** Throws the core's last failure if `code` says that there was one. */
  check(code: number): void {
    if (code !== 0) throw this.failure();
  }

  /** What a function made, which gives 0 on failure; `destroy` is the function that deletes it. */
  own(address: number, destroy: (address: number) => void): Handle {
    if (address === 0) throw this.failure();
    return new Handle(address, destroy);
  }

  /** The answer of a function that gives more than a number; 0 on failure. */
  answer<T>(address: number): T {
    if (address === 0) throw this.failure();
    const [length] = this.memory.uint32s(address, 1);
    const bytes = this.memory.bytes(address + 4, length!);
    this.functions.release(address);
    return readAnswer(bytes) as T;
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

  #carried(): string[] {
    return this.answer(this.functions.isas());
  }

  // A module that a caller brought may carry relaxed kernels although they compute wrong results here.
  #supportedIsa(isa: CompiledModule['isa']): string {
    const carried = this.#carried();
    if (isa === 'auto') {
      const right = carried.filter((name) => name !== 'relaxed' || this.functions.relaxedDotIsRight());
      return right.at(-1) ?? 'scalar';
    }
    if (carried.includes(isa)) return isa;
    const known = ['auto', ...carried].map((name) => `"${name}"`).join(', ');
    throw new EmbeddingError(
      'unsupported',
      `isa "${String(isa)}" is none of ${known}, which this module carries.`,
    );
  }
}

type Glue<F> = (options: object) => Promise<F>;

/**
 * @internal An instance of a module, behind its glue: which waits for the instance forever if it is not told of a
 * failure, hence the promise around it.
 */
export function instantiate<F>(glue: Glue<F>, module: WebAssembly.Module): Promise<Instance<F>> {
  return new Promise((resolve, reject) => {
    let exports: WebAssembly.Exports;
    const instantiateWasm = (
      imports: WebAssembly.Imports,
      receive: (instance: WebAssembly.Instance) => void,
    ): object => {
      WebAssembly.instantiate(module, imports)
        .then((instance) => {
          ({ exports } = instance);
          receive(instance);
        })
        .catch(reject);
      return {};
    };
    glue({ instantiateWasm }).then((functions) => resolve({ functions, exports }), reject);
  });
}
