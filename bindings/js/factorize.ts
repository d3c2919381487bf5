/**
 * Factorizes the embedding of a model: E [V, d] ≈ A · B of rank k, the best there is of that rank, and lays out a file of
 * A, Bᵀ and the other tensors of the model's input and output stage. Loaded again, that file looks up A[ids] · B and
 * scores (h · Bᵀ) · Aᵀ.
 */
import { EmbeddingError } from './errors.js';
import { pieceBytes, setVocabulary, siblingVocabulary, StoredIntegers } from './export.js';
import { kFactorName } from './factors.js';
import { createFullCore } from './full_core.js';
import type { FullCore } from './full_core.js';
import type { Handle } from './handle.js';
import { Loader } from './load.js';
import { checkHead, openModelWith } from './open.js';
import type { Opened, OpenOptions } from './open.js';
import { openSource } from './sources/open.js';
import type { SourceOptions } from './sources/open.js';
import type { SourceLike } from './sources/source.js';
import { EmbeddingTable } from './table.js';

export interface FactorizeOptions extends OpenOptions, SourceOptions {
  /** k, from 1 to d. */
  rank: number;
  /** Format of A: `F32`, `F16`, `Q8_0`, …; Bᵀ is F32. Default: the embedding's own, where it can be written. */
  type?: string;
  container: 'gguf' | 'safetensors';
}

export interface FactorizeReport {
  rank: number;
  /** Format of A. */
  dtype: string;
  /** V · d. */
  sourceParameters: number;
  /** V · k + k · d. */
  parameters: number;
  sourceBytes: number;
  bytes: number;
  /** ‖E − A·B‖ / ‖E‖, with A and B as they are stored. */
  relativeError: number;
  /** What no factors of this rank can beat, from the singular values. */
  optimalError: number;
  /** Of hidden vectors (rows of E, evenly spaced), the share whose best id is the same with both tables. */
  top1Agreement: number;
  sampledVectors: number;
}

export interface FactorizedFile {
  report: FactorizeReport;
  /** The file's bytes from first to last, in pieces; each is the caller's to keep. */
  bytes: Iterable<Uint8Array>;
}

/**
 * Makes the file; `use` is called with it before its memory is given back.
 * @throws {RangeError} for a rank outside 1 … d
 * @throws {EmbeddingError} `unsupported` for an embedding that is factorized already, or a type without an encoder
 */
export async function factorizeModel<T>(
  from: SourceLike,
  options: FactorizeOptions,
  use: (file: FactorizedFile) => Promise<T>,
): Promise<T> {
  const source = await openSource(from, options);
  let opened: Opened<FullCore> | undefined;
  let factorizer: Factorizer | undefined;
  try {
    opened = await openModelWith(await createFullCore(options), source, options);
    checkHead(opened.plan());
    const vocabulary = await siblingVocabulary(opened, source, options.signal);
    factorizer = new Factorizer(opened, options);
    const report = await factorizer.run();
    const { makeWriterAfter, deleteWriter, finishFile } = opened.core.functions;
    const writer = opened.core.own(makeWriterAfter(opened.opener.address), deleteWriter);
    try {
      if (vocabulary !== undefined) setVocabulary(opened.core, writer, vocabulary);
      factorizer.addTo(writer);
      opened.core.check(finishFile(writer.address, options.container === 'gguf'));
      return await use({ report, bytes: pieceBytes(opened.core, writer) });
    } finally {
      writer.delete();
    }
  } finally {
    factorizer?.dispose();
    opened?.opener.delete();
    await (opened?.files ?? source).close?.();
  }
}

interface Result {
  parameters: number;
  bytes: number;
  relativeError: number;
  top1Agreement: number;
  sampledVectors: number;
}

class Factorizer {
  readonly #core: FullCore;
  /** What goes into the file. */
  readonly #tables: { name: string; table: EmbeddingTable; isVector: boolean }[] = [];
  readonly #integers: StoredIntegers[] = [];

  constructor(
    private readonly opened: Opened<FullCore>,
    private readonly options: FactorizeOptions,
  ) {
    this.#core = opened.core;
  }

  async run(): Promise<FactorizeReport> {
    const { roles, tying } = this.opened.plan();
    const embedding = roles[0]!;
    if (roles.some(({ role }) => role === 'projection')) {
      throw new EmbeddingError(
        'unsupported',
        `${embedding.name} has a projection already: it is factorized.`,
      );
    }
    checkRank(this.options.rank, embedding.cols);
    const all = roles.map((_, index) => index);
    const loader = new Loader(this.opened, roles, all, this.options);
    const table = await loader.load(0);
    try {
      for (const index of all.slice(1)) {
        const { role, name, rows } = roles[index]!;
        if (role === 'mapping') {
          this.#integers.push(await StoredIntegers.load(this.#core, loader, index, roles[index]!));
          continue;
        }
        const compare = role === 'head' && tying === 'compare';
        const other = compare ? await loader.loadUnlessEqual(index, table) : await loader.load(index);
        // A head with the same bytes is the same table, and goes through the projection from now on.
        if (other !== table) this.#tables.push({ name, table: other, isVector: rows === 1 });
      }
      return this.#factors(table, embedding.name);
    } finally {
      table.dispose();
    }
  }

  addTo(writer: Handle): void {
    const { addTable } = this.#core.functions;
    for (const { name, table, isVector } of this.#tables) {
      addTable(writer.address, name, table.handle, isVector);
    }
    for (const integers of this.#integers) integers.addTo(writer);
  }

  dispose(): void {
    for (const { table } of this.#tables) table.dispose();
    for (const integers of this.#integers) integers.dispose();
  }

  #factors(table: EmbeddingTable, name: string): FactorizeReport {
    const { vocabSize: rows, dim, dtype: from, bytes: sourceBytes } = table;
    const { rank } = this.options;
    const dtype = this.#encodable(this.options.type ?? from, rank);
    const core = this.#core;
    const { functions } = core;
    const { deleteTable } = functions;
    const factorization = core.own(functions.makeFactorization(table.handle), functions.deleteFactorization);
    const { address } = factorization;
    try {
      core.check(functions.decompose(address));
      const optimalError = functions.optimalError(address, rank);
      core.check(functions.runFactorization(address, rank, dtype));
      const a = core.own(functions.takeRows(address), deleteTable);
      this.#keep(name, new EmbeddingTable(core, a, { rows, cols: rank, dtype }));
      const b = core.own(functions.takeProjection(address), deleteTable);
      this.#keep(kFactorName, new EmbeddingTable(core, b, { rows: dim, cols: rank, dtype: 'F32' }));
      const result = core.answer<Result>(functions.factorizationResult(address));
      return { rank, dtype, sourceParameters: rows * dim, sourceBytes, optimalError, ...result };
    } finally {
      factorization.delete();
    }
  }

  /** Of a format that cannot be written (or not at this width) the next best. */
  #encodable(type: string, rank: number): string {
    const dtype = this.#core.functions.encodable(type, rank);
    if (dtype !== '') return dtype;
    if (this.options.type === undefined) return 'F16';
    throw new EmbeddingError('unsupported', `There is no encoder for the type "${type}".`);
  }

  #keep(name: string, table: EmbeddingTable): void {
    this.#tables.push({ name, table, isVector: false });
  }
}

function checkRank(rank: number, dim: number): void {
  if (Number.isInteger(rank) && rank >= 1 && rank <= dim) return;
  throw new RangeError(`rank is ${rank}; it must be a whole number from 1 to ${dim}, the width of a row`);
}
