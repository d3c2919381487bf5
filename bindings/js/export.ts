/**
 * Model files out of model files: the tables that play a role, in their own format or another one, with the metadata
 * and the vocabulary of where they come from. Everything else of the source is left out.
 */
import { EmbeddingError } from './errors.js';
import { createFullCore } from './full_core.js';
import type { FullCore } from './full_core.js';
import type { Handle } from './handle.js';
import { roleIndex } from './info.js';
import { Loader } from './load.js';
import { checkHead, openModelWith } from './open.js';
import type { MetadataValue, Opened, OpenOptions, Plan, Role } from './open.js';
import { encodeTable, resizeTable } from './quantize.js';
import { isAbsent } from './sources/checks.js';
import { openSource } from './sources/open.js';
import type { SourceOptions } from './sources/open.js';
import type { Source, SourceLike } from './sources/source.js';
import type { EmbeddingTable } from './table.js';
import { readTokenizerJson } from './vocabulary.js';
import type { VocabularyData } from './vocabulary.js';

export interface ExportOptions extends OpenOptions, SourceOptions {
  /** Format of the embedding table and the head: `Q8_0`, `F16`, … Default: as they are. */
  type?: string;
  container: 'gguf' | 'safetensors';
  /** Rows of the new table: those from there on are cut, or new ones are added. Default: as many as there are. */
  rows?: number;
  /** Rows up to the next multiple of this. */
  padTo?: number;
  /** What new rows are: `zeros`, the default, or the `mean` of the others. */
  newRows?: 'zeros' | 'mean';
}

/** What another format costs; see `compare_tables` in src/tools/quantize.h. */
export interface QuantizeReport {
  /** Name of the tensor. */
  tensor: string;
  from: string;
  to: string;
  sourceBytes: number;
  bytes: number;
  /** ‖E − Ê‖ / ‖E‖ */
  relativeError: number;
  worstRow: number;
  worstRowError: number;
  meanCosine: number;
  /** Share of sampled rows whose best logit is the same id with both tables. */
  top1Agreement: number;
  sampledRows: number;
}

type Losses = Omit<QuantizeReport, 'tensor' | 'from' | 'to'>;

export interface ExportedFile {
  /** One for each table that changed its format. */
  reports: QuantizeReport[];
  /** Rows of the written table. */
  vocabSize: number;
  /** Where the source contradicts itself, in sentences. */
  warnings: string[];
  /** The file's bytes from first to last, in pieces; each is the caller's to keep. */
  bytes: Iterable<Uint8Array>;
}

/** Loads a model and makes a file of its tables; `use` is called with it before its memory is given back. */
export async function exportModel<T>(
  from: SourceLike,
  options: ExportOptions,
  use: (file: ExportedFile) => Promise<T>,
): Promise<T> {
  const source = await openSource(from, options);
  let opened: Opened<FullCore> | undefined;
  let tables: TablesOf | undefined;
  try {
    opened = await openModelWith(await createFullCore(options), source, options);
    checkHead(opened.plan());
    const vocabulary = await siblingVocabulary(opened, source, options.signal);
    tables = new TablesOf(opened, options);
    await tables.load();
    const reports = tables.quantize();
    const { from: before, to: vocabSize } = tables.resize();
    const { makeWriterAfter, deleteWriter, finishFile } = opened.core.functions;
    const writer = opened.core.own(makeWriterAfter(opened.opener.address), deleteWriter);
    try {
      if (vocabulary !== undefined) setVocabulary(opened.core, writer, vocabulary);
      if (vocabSize !== before) resizeMetadata(writer, opened, before, vocabSize);
      tables.addTo(writer);
      opened.core.check(finishFile(writer.address, options.container === 'gguf'));
      const warnings = [...opened.plan().warnings, ...sizeWarnings(before, vocabulary)];
      return await use({ reports, vocabSize, warnings, bytes: pieceBytes(opened.core, writer) });
    } finally {
      writer.delete();
    }
  } finally {
    tables?.dispose();
    opened?.opener.delete();
    await (opened?.files ?? source).close?.();
  }
}

/** The vocabulary of a tokenizer.json against the table beside it; a file's own is checked where headers are read. */
function sizeWarnings(rows: number, vocabulary: VocabularyData | undefined): string[] {
  const pieces = vocabulary?.pieces.length ?? rows;
  if (pieces === rows) return [];
  const which =
    pieces > rows ? `ids from ${rows} on have no row` : `rows from ${pieces} on belong to no token`;
  return [`tokenizer.json has ${pieces} pieces for the ${rows} rows of the embedding: ${which}`];
}

/** Rows of these are ids. */
const kTablesOfIds = ['embedding', 'head', 'per_layer'];
/** Values of these are. */
const kVectorsOfIds = ['head_bias', 'weights'];

/** @throws {RangeError} or {TypeError} that names the option */
function checkRows(present: number, { rows = present, padTo = 1, newRows = 'zeros' }: ExportOptions): number {
  for (const [name, value] of Object.entries({ rows, padTo })) {
    if (Number.isSafeInteger(value) && value >= 1) continue;
    throw new RangeError(`${name} is ${value}; it must be a whole number of 1 or more`);
  }
  if (!['zeros', 'mean'].includes(newRows)) {
    throw new TypeError(`newRows is ${JSON.stringify(newRows)}; it must be "zeros" or "mean"`);
  }
  return Math.ceil(rows / padTo) * padTo;
}

/** Makes vocabulary and metadata fit a table that had `before` rows and has `rows` now. */
function resizeMetadata(
  writer: Handle,
  { core, directory }: Opened<FullCore>,
  before: number,
  rows: number,
): void {
  const { setNumber, vocabularySize, resizeVocabulary } = core.functions;
  for (const [key, value] of directory.metadata) {
    if (key.endsWith('_token_id')) checkStays(key, value, before, rows);
    if (/(^|\.)vocab_size$/.test(key) && value === before) setNumber(writer.address, key, rows);
  }
  // A list that did not fill the old table does not have to fill the new one.
  const pieces = vocabularySize(writer.address);
  if (pieces === before || pieces > rows) resizeVocabulary(writer.address, rows);
}

/** @throws {EmbeddingError} where a special token is cut off */
function checkStays(key: string, value: MetadataValue, before: number, rows: number): void {
  const ids = [value].flat().filter((id): id is number => typeof id === 'number');
  const lost = ids.find((id) => id >= rows && id < before);
  if (lost === undefined) return;
  throw new EmbeddingError(
    'unsupported',
    `Id ${lost} is ${key}, which a table of ${rows} rows would not have: keep at least ${lost + 1} rows.`,
  );
}

/** The tables of a model's roles while they become another file. */
class TablesOf {
  readonly #plan: Plan;
  #tables: { role: string; name: string; table: EmbeddingTable; isVector: boolean; isMatrix: boolean }[] = [];
  readonly #integers: StoredIntegers[] = [];

  constructor(
    private readonly opened: Opened<FullCore>,
    private readonly options: ExportOptions,
  ) {
    this.#plan = opened.plan();
  }

  async load(): Promise<void> {
    const { roles, tying } = this.#plan;
    const all = roles.map((_, index) => index);
    const loader = new Loader(this.opened, roles, all, this.options);
    const head = roleIndex(this.#plan, 'head');
    for (const index of all) {
      const role = roles[index]!;
      if (role.role === 'mapping') {
        this.#integers.push(await StoredIntegers.load(this.opened.core, loader, index, role));
        continue;
      }
      const compare = index === head && tying === 'compare';
      const embedding = this.#tables[0]?.table;
      const table =
        compare && embedding !== undefined
          ? await loader.loadUnlessEqual(index, embedding)
          : await loader.load(index);
      if (table === embedding) continue; // tied: stored once
      const isMatrix = role.role === 'embedding' || role.role === 'head';
      this.#tables.push({ role: role.role, name: role.name, table, isVector: role.rows === 1, isMatrix });
    }
  }

  quantize(): QuantizeReport[] {
    const { type } = this.options;
    if (type === undefined) return [];
    const { core } = this.opened;
    return this.#tables
      .filter(({ isMatrix }) => isMatrix)
      .map((entry) => {
        const from = entry.table.dtype;
        const to = core.functions.encodable(type, entry.table.dim);
        if (to === '') {
          throw new EmbeddingError('unsupported', `There is no encoder for the type "${type}".`);
        }
        const quantized = encodeTable(core, entry.table, to);
        try {
          const report = core.answer<Losses>(core.functions.compare(entry.table.handle, quantized.handle));
          return {
            tensor: entry.name,
            from,
            to,
            ...report,
          };
        } finally {
          entry.table.dispose();
          entry.table = quantized;
        }
      });
  }

  /** Gives the tables that ids count the asked-for number of rows. */
  resize(): { from: number; to: number } {
    const from = this.#tables[0]!.table.vocabSize;
    const to = checkRows(from, this.options);
    if (to === from) return { from, to };
    if (this.#plan.roles.some(({ role }) => role === 'mapping')) {
      throw new EmbeddingError(
        'unsupported',
        'Ids of this table are mapped to its rows, so another number of rows would mean nothing: leave rows out.',
      );
    }
    const mean = this.options.newRows === 'mean';
    for (const entry of this.#tables) {
      const { role, table } = entry;
      const asVector = kVectorsOfIds.includes(role) && table.dim === from;
      const has = asVector ? table.dim : table.vocabSize;
      if (!asVector && !kTablesOfIds.includes(role)) continue;
      // A per-layer table may have fewer rows of its own: it is cut with the others, but not made longer.
      const size = has === from ? to : Math.min(has, to);
      if (size === has) continue;
      entry.table = resizeTable(this.opened.core, table, size, { mean, asVector });
      table.dispose();
    }
    return { from, to };
  }

  addTo(writer: Handle): void {
    const { addTable } = this.opened.core.functions;
    for (const { name, table, isVector } of this.#tables) {
      addTable(writer.address, name, table.handle, isVector);
    }
    for (const integers of this.#integers) integers.addTo(writer);
  }

  dispose(): void {
    for (const { table } of this.#tables) table.dispose();
    for (const integers of this.#integers) integers.dispose();
  }
}

/** @internal A role of plain integers (`mapping`), kept in the core's memory as stored, to be written again. */
export class StoredIntegers {
  private constructor(
    private readonly core: FullCore,
    private readonly role: Role,
    private readonly address: number,
    private readonly bytes: number,
  ) {}

  static async load(core: FullCore, loader: Loader, index: number, role: Role): Promise<StoredIntegers> {
    const bytes = await loader.bytes(index);
    const address = core.memory.allocate(bytes.length);
    core.memory.write(address, bytes);
    return new StoredIntegers(core, role, address, bytes.length);
  }

  addTo(writer: Handle): void {
    const { name, dtype, cols } = this.role;
    this.core.functions.addIntegers(writer.address, name, dtype, cols, this.address, this.bytes);
  }

  dispose(): void {
    this.core.memory.release(this.address);
  }
}

/** @internal A repository keeps its vocabulary beside the weights; GGUF has it inside. */
export async function siblingVocabulary(
  opened: Opened,
  source: Source,
  signal: AbortSignal | undefined,
): Promise<VocabularyData | undefined> {
  if (opened.directory.container === 'GGUF') return undefined;
  const file = source.sibling('tokenizer.json');
  try {
    const bytes = await file.read(0, await file.size(signal), { signal });
    return readTokenizerJson(new TextDecoder().decode(bytes));
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  } finally {
    await file.close?.();
  }
}

/** @internal */
export function setVocabulary(
  core: FullCore,
  writer: Handle,
  { model, pieces, scores, types }: Omit<VocabularyData, 'model'> & { model?: string },
): void {
  const encoder = new TextEncoder();
  const encoded = pieces.map((piece) => encoder.encode(piece));
  const offsets = new Uint32Array(pieces.length + 1);
  encoded.forEach((bytes, i) => (offsets[i + 1] = offsets[i]! + bytes.length));
  const text = new Uint8Array(offsets.at(-1)!);
  encoded.forEach((bytes, i) => text.set(bytes, offsets[i]));
  const parts = [text, offsets, scores && Float32Array.from(scores), Int32Array.from(types)];
  const addresses = parts.map((part) => (part ? core.memory.allocate(part.byteLength) : 0));
  parts.forEach((part, i) => {
    if (part) core.memory.write(addresses[i]!, new Uint8Array(part.buffer));
  });
  const [textAt, offsetsAt, scoresAt, typesAt] = addresses as [number, number, number, number];
  const { setVocabulary, setText } = core.functions;
  setVocabulary(writer.address, textAt, text.length, offsetsAt, pieces.length, scoresAt, typesAt);
  if (model !== undefined) setText(writer.address, 'tokenizer.ggml.model', model);
  for (const address of addresses) if (address !== 0) core.memory.release(address);
}

/** @internal */
export interface Piece {
  zeros: number;
  address: number;
  bytes: number;
}

/** @internal The file from its first byte to its last. */
export function* pieceBytes(core: FullCore, writer: Handle): Iterable<Uint8Array> {
  const pieces = core.answer<Piece[]>(core.functions.pieces(writer.address));
  for (const { zeros, address, bytes } of pieces) {
    if (zeros > 0) yield new Uint8Array(zeros);
    for (const [, piece] of core.memory.pieces(address, bytes)) yield piece;
  }
}
