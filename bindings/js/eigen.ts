/** Eigenvectors of a symmetric matrix, by a WebAssembly module of its own that is loaded when it is needed. */
import { EmbeddingError } from './errors.js';
import { heapOfExports, Memory } from './memory.js';
import { compile } from './wasm.js';

interface EigenExports {
  memory: WebAssembly.Memory;
  _initialize?(): void;
  allocate(bytes: number): number;
  release(address: number): void;
  symmetricEigen(matrix: number, n: number, values: number): number;
}

/** Unit eigenvectors as rows, [n, n], and their values, by descending value. */
export interface Eigen {
  vectors: Float64Array;
  values: Float64Array;
}

/** @throws {EmbeddingError} `out-of-memory`, or `invalid-argument` where the matrix holds what is not finite */
export async function symmetricEigen(matrix: Float64Array, n: number): Promise<Eigen> {
  const module = await compile(new URL('./id2vec.eigen.wasm', import.meta.url));
  const { exports } = await WebAssembly.instantiate(module, importsOf(module));
  const eigen = exports as unknown as EigenExports;
  eigen._initialize?.();
  const memory = new Memory(heapOfExports(eigen));
  const matrixAt = memory.allocate(matrix.byteLength);
  const valuesAt = memory.allocate(n * 8);
  memory.write(matrixAt, new Uint8Array(matrix.buffer, matrix.byteOffset, matrix.byteLength));
  if (eigen.symmetricEigen(matrixAt, n, valuesAt) !== 0) throw tooLarge(n);
  return {
    vectors: new Float64Array(memory.bytes(matrixAt, matrix.byteLength).buffer),
    values: new Float64Array(memory.bytes(valuesAt, n * 8).buffer),
  };
}

function tooLarge(n: number): EmbeddingError {
  return new EmbeddingError(
    'out-of-memory',
    `The eigenvectors of a matrix of ${n} rows were not found: it holds values that are not finite, or needs more memory.`,
  );
}

// The toolchain leaves a few imports behind (a notice of memory growth, an exit); none does anything here.
function importsOf(module: WebAssembly.Module): WebAssembly.Imports {
  const imports: Record<string, Record<string, () => number>> = {};
  for (const { module: from, name } of WebAssembly.Module.imports(module)) {
    (imports[from] ??= {})[name] = () => 0;
  }
  return imports;
}
