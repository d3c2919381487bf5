/**
 * Gets tensors into workers, each row to the worker that it belongs to. Where a file has a recipe each worker reads
 * its own rows; other files (a custom fetch, a caller's own source, a server without ranges, a digest that is still to
 * be checked) are read by this thread, which passes chunks on.
 */
import { EmbeddingError } from '../errors.js';
import { isTied } from '../info.js';
import { Loader } from '../load.js';
import type { Opened, Plan, Role } from '../open.js';
import { inParallel } from '../parallel.js';
import { kPieceBytes, RoleReader } from '../read.js';
import type { LoadContext } from '../read.js';
import type { Recipe } from '../sources/recipe.js';
import type { EmbeddingTable } from '../table.js';
import type { WorkerThread } from '../worker/thread.js';
import { ShardedTable } from './sharded_table.js';
import type { ShardPart } from './sharded_table.js';

/** A file that workers have open. */
interface SharedFile {
  /** What it goes by in every worker. */
  source: number;
  /** How many ranges of it may be read at the same time, in all workers together. */
  parallel: number;
}

/** A run of bytes for one worker. */
interface Piece extends ShardPart {
  source: number;
}

export class ShardLoader {
  readonly #reader: RoleReader;
  readonly #files = new Map<number, Promise<SharedFile | undefined>>();
  #shared = false;

  /** `wanted`: indices into the plan's roles of all that will be loaded. */
  constructor(
    private readonly opened: Opened,
    private readonly plan: Plan,
    private readonly wanted: readonly number[],
    private readonly threads: readonly WorkerThread[],
    private readonly context: LoadContext,
  ) {
    this.#reader = new RoleReader(opened, plan.roles, wanted, context);
  }

  async load(index: number): Promise<ShardedTable> {
    if (!this.#isPlain(index)) return this.#loadHereFirst(index);
    const table = await this.#create(index);
    const files = await this.#share(index);
    if (files) await this.#readThere(index, this.#pieces(index, table, files), files);
    else await this.#reader.read(index, (plane, at, chunk) => table.write(plane, at, chunk));
    return table;
  }

  /** `embedding` itself where all bytes are the same. */
  async loadHead(index: number, embedding: ShardedTable): Promise<ShardedTable> {
    if (this.plan.tying !== 'compare') return this.load(index);
    if (!this.#isPlain(index)) {
      const same = await isTied(this.opened, this.plan, this.context.signal);
      return same ? embedding : this.load(index);
    }
    const files = await this.#share(index);
    if (files) return this.#loadUnlessEqual(index, embedding, files);
    let own: ShardedTable | undefined;
    await this.#reader.readInOrder(index, async (plane, at, chunk) => {
      if (!own && (await embedding.holds(plane, at, chunk))) return;
      own ??= await embedding.copy();
      await own.write(plane, at, chunk);
    });
    return own ?? embedding;
  }

  /** To be called when all is loaded: workers keep no file open, and what they read is counted. */
  async close(): Promise<void> {
    if (!this.#shared) return;
    const costs = await Promise.all(this.threads.map((thread) => thread.call('close', {})));
    for (const traffic of costs) this.opened.files.root.count?.(traffic);
  }

  /** Workers compare their rows with what they have; what differs, and only that, is read again into a copy. */
  async #loadUnlessEqual(
    index: number,
    embedding: ShardedTable,
    files: Map<number, SharedFile>,
  ): Promise<ShardedTable> {
    const pieces = this.#pieces(index, embedding, files);
    const equal = new Map<Piece, number>();
    await this.#inThreads(index, pieces, files, async (piece, progress) => {
      const { thread, ...reading } = piece;
      equal.set(piece, await thread.call('compare', reading, [], progress));
    });
    const different = pieces.filter((piece) => equal.get(piece)! < piece.bytes);
    if (different.length === 0) return embedding;
    const own = await embedding.copy();
    const rest = different.map((piece) => {
      const done = equal.get(piece)!;
      const { offset, at, bytes } = piece;
      const table = own.tableOf(piece.thread);
      return { ...piece, table, offset: offset + done, at: at + done, bytes: bytes - done };
    });
    await this.#readThere(index, rest, files);
    return own;
  }

  /** True where each row's bytes are in the file as they will be in memory. */
  #isPlain(index: number): boolean {
    const { conversion, inlineBytes, spec } = this.#role(index);
    return conversion === 'none' && inlineBytes === 0 && !spec.affine?.perTensor;
  }

  #role(index: number): Role {
    return this.plan.roles[index]!;
  }

  #create(index: number): Promise<ShardedTable> {
    const { spec, rows, segments } = this.#role(index);
    const planes: number[] = [];
    for (const { plane, bytes } of segments) planes[plane] = (planes[plane] ?? 0) + bytes / rows;
    return ShardedTable.create(this.threads, spec, rows, planes);
  }

  /** The files of a role, opened in all workers; undefined where one of them can only be read here. */
  async #share(index: number): Promise<Map<number, SharedFile> | undefined> {
    const shared = new Map<number, SharedFile>();
    for (const { file } of this.#role(index).segments) {
      if (!this.#files.has(file)) this.#files.set(file, this.#openThere(file));
      const opened = await this.#files.get(file);
      if (!opened) return undefined;
      shared.set(file, opened);
    }
    return shared;
  }

  async #openThere(file: number): Promise<SharedFile | undefined> {
    const source = this.opened.source(file);
    const recipe = await source.recipe?.(this.#bytesOf(file), this.context.signal);
    if (!recipe) return undefined;
    const request = { recipe: partOf(recipe, this.threads.length) };
    this.#shared = true;
    // All give the same number: they open the same files in the same order.
    const [number] = await Promise.all(this.threads.map((thread) => thread.call('open', request)));
    const isLocal = recipe.kind === 'path' || recipe.kind === 'blob';
    return { source: number!, parallel: isLocal ? this.threads.length : source.parallel };
  }

  /** All that will be read of a file. */
  #bytesOf(file: number): number {
    const segments = this.wanted.flatMap((index) => this.#role(index).segments);
    return segments.reduce((sum, segment) => sum + (segment.file === file ? segment.bytes : 0), 0);
  }

  /** Cut so that workers take turns. */
  #pieces(index: number, table: ShardedTable, files: Map<number, SharedFile>): Piece[] {
    const cuts = Math.ceil(atOnce(files) / this.threads.length);
    const parts = this.#role(index).segments.flatMap((segment) => {
      const { source } = files.get(segment.file)!;
      return table.share(segment).map((part) => cut({ ...part, source }, cuts));
    });
    return Array.from({ length: cuts }, (_, i) => parts.flatMap((pieces) => pieces.slice(i, i + 1))).flat();
  }

  #readThere(index: number, pieces: readonly Piece[], files: Map<number, SharedFile>): Promise<void> {
    return this.#inThreads(index, pieces, files, async ({ thread, ...reading }, progress) => {
      await thread.call('read', reading, [], progress);
    });
  }

  /** The first failure, or an abort, ends all reading in all workers before it is thrown. */
  #inThreads(
    index: number,
    pieces: readonly Piece[],
    files: Map<number, SharedFile>,
    work: (piece: Piece, progress: (bytes: number) => void) => Promise<void>,
  ): Promise<void> {
    const { role } = this.#role(index);
    const progress = (bytes: number) => this.#reader.count(role, bytes);
    return inParallel(pieces, atOnce(files), this.context.signal, async (piece, signal) => {
      signal.throwIfAborted();
      const cancel = () => void piece.thread.call('cancel', {}).catch(() => undefined);
      signal.addEventListener('abort', cancel);
      try {
        await work(piece, progress);
      } catch (error) {
        signal.throwIfAborted();
        throw error;
      } finally {
        signal.removeEventListener('abort', cancel);
      }
    });
  }

  /** What has to be put in order first is loaded into this thread's memory, and passed on from there. */
  async #loadHereFirst(index: number): Promise<ShardedTable> {
    const { spec, rows } = this.#role(index);
    if (spec.affine?.perTensor) {
      throw new EmbeddingError(
        'unsupported',
        'A table whose rows share one scale cannot be spread over workers: load it with residency "memory".',
      );
    }
    const loader = new Loader(this.opened, this.plan.roles, this.wanted, this.context);
    using here: EmbeddingTable = await loader.load(index);
    const rowBytes = here.planes.map(({ bytes }) => bytes / rows);
    const table = await ShardedTable.create(this.threads, spec, rows, rowBytes);
    for (const [plane, { address, bytes }] of here.planes.entries()) {
      for (const [at, piece] of here.core.memory.pieces(address, bytes)) await table.write(plane, at, piece);
    }
    return table;
  }
}

/** The recipe for one of several readers that share what room there is. */
function partOf(recipe: Recipe, readers: number): Recipe {
  return recipe.kind === 'cached' ? { ...recipe, room: recipe.room / readers } : recipe;
}

function atOnce(files: Map<number, SharedFile>): number {
  return Math.min(...Array.from(files.values(), ({ parallel }) => parallel));
}

/** `cuts` pieces, or fewer where they would be small. */
function cut(piece: Piece, cuts: number): Piece[] {
  const count = Math.max(1, Math.min(cuts, Math.floor(piece.bytes / kPieceBytes)));
  const bytes = Math.ceil(piece.bytes / count);
  return Array.from({ length: count }, (_, i) => {
    const start = i * bytes;
    const { offset, at } = piece;
    return {
      ...piece,
      offset: offset + start,
      at: at + start,
      bytes: Math.min(bytes, piece.bytes - start),
    };
  });
}
