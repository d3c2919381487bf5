/** Eigenvectors of a symmetric matrix, by a WebAssembly module of its own that is loaded when it is needed. */
import { EmbeddingError } from './errors.js';
import { compile } from './wasm.js';

interface EigenExports {
  memory: WebAssembly.Memory;
  _initialize?(): void;
  allocate(bytes: number): number;
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
  const { memory, allocate, symmetricEigen: solve, _initialize } = exports as unknown as EigenExports;
  _initialize?.();
  const matrixAt = allocate(matrix.byteLength);
  const valuesAt = allocate(n * 8);
  if (matrixAt === 0 || valuesAt === 0) throw tooLarge(n);
  new Float64Array(memory.buffer, matrixAt, n * n).set(matrix);
  if (solve(matrixAt, n, valuesAt) !== 0) throw tooLarge(n);
  return {
    vectors: new Float64Array(memory.buffer, matrixAt, n * n).slice(),
    values: new Float64Array(memory.buffer, valuesAt, n).slice(),
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
