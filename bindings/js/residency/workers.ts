import { checkIds, checkLimit } from '../arguments.js';
import { EmbeddingError } from '../errors.js';
import { isTied } from '../info.js';
import type { MemoryUse } from '../info.js';
import { Loader } from '../load.js';
import type { Opened, Plan } from '../open.js';
import { RoleReader } from '../read.js';
import type { LoadContext } from '../read.js';
import { hasFileSystem, nodeModule } from '../sources/node.js';
import type { EmbeddingTable } from '../table.js';
import type { EmbedOptions, HeadLogitsOptions, HeadTopKOptions } from '../stage_types.js';
import type { ModelStages } from '../stages.js';
import type { Ids, LookupOptions, Tensor, TopK } from '../types.js';
import { WorkerThread } from '../worker/thread.js';
import { OutputStage } from './output_stage.js';
import type { RemoteRoles } from './remote.js';
import type { Residency } from './residency.js';
import { ShardedTable } from './sharded_table.js';

export interface WorkersOptions extends LoadContext {
  /** How many. Default `auto`: one per processor core, eight at most. */
  workers?: number | 'auto';
  /** Where the worker's file lies, if not beside the package's own. */
  worker?: string | URL;
}

const kMostByDefault = 8;
/** Fewer rows than this are not worth a worker of their own. */
const kFewestRows = 64;
/** What is loaded here first is passed on in pieces of this size. */
const kPieceBytes = 4 << 20;

/** @internal Rows in worker threads, a run of them in each, with a WebAssembly memory of its own. */
export class WorkersResidency implements Residency {
  readonly kind = 'workers';

  private constructor(
    readonly isa: string,
    private readonly threads: readonly WorkerThread[],
    private readonly embedding: ShardedTable,
    private readonly head: ShardedTable,
    private readonly output: OutputStage,
    readonly stages: ModelStages,
    private readonly heap: number,
  ) {}

  /** Takes `stages` over, which know nothing of the tables but their shape. */
  static async load(
    opened: Opened,
    plan: Plan,
    roles: RemoteRoles,
    stages: ModelStages,
    options: WorkersOptions,
  ): Promise<WorkersResidency> {
    const { core } = opened;
    const count = await workerCount(options.workers, plan.roles[0]!.rows);
    const threads: WorkerThread[] = [];
    try {
      for (let i = 0; i < count; i++) threads.push(await WorkerThread.start(options.worker));
      await Promise.all(
        threads.map((thread) => thread.call('start', { module: core.module, isa: core.isa })),
      );
      const wanted = [...new Set([roles.embedding, roles.head])];
      const loader = new ShardLoader(opened, plan, wanted, threads, options);
      const embedding = await loader.load(roles.embedding);
      const head = wanted.length === 1 ? embedding : await loader.loadHead(roles.head, embedding);
      const heaps = await Promise.all(threads.map((thread) => thread.call('heapBytes', {})));
      const heap = heaps.reduce((sum, bytes) => sum + bytes, core.memory.size);
      const output = new OutputStage(plan);
      return new WorkersResidency(core.isa, threads, embedding, head, output, stages, heap);
    } catch (error) {
      for (const thread of threads) thread.dispose();
      stages.dispose();
      throw error;
    }
  }

  get tied(): boolean {
    return this.head === this.embedding;
  }

  /** As it was when the model was loaded: the heaps of all workers, and this thread's. */
  get memory(): MemoryUse {
    return { embedding: this.embedding.bytes, head: this.tied ? 0 : this.head.bytes, heap: this.heap };
  }

  lookup(ids: Ids, options: LookupOptions): Promise<Tensor> {
    return this.embedding.lookup(ids, options);
  }

  async embed(ids: Ids, options: EmbedOptions): Promise<Tensor> {
    const rows = await this.lookup(ids, {});
    return this.stages.embedRows(ids, rows.data, options);
  }

  async logits(hidden: Float32Array | Tensor, options: HeadLogitsOptions): Promise<Tensor> {
    this.output.check(options);
    if (options.limit !== undefined) checkLimit(options.limit, this.head.rows);
    const scores = await this.head.logits(this.output.prepare(hidden), options);
    this.output.finish(scores.data, options);
    if (options.limit !== undefined) maskFrom(options.limit, scores, options.ids);
    return scores;
  }

  async topK(hidden: Float32Array | Tensor, k: number, options: HeadTopKOptions): Promise<TopK> {
    this.output.check(options);
    const limit = options.limit ?? this.stages.tokenizerSize(this.head.rows);
    const top = await this.head.topK(this.output.prepare(hidden), k, { ...options, limit });
    this.output.finish(top.values, options);
    return top;
  }

  dispose(): void {
    for (const thread of this.threads) thread.dispose();
    this.stages.dispose();
  }
}

/** Ids from `limit` on score −∞. Without `ids`, column i belongs to id i. */
function maskFrom(limit: number, { data, dims }: Tensor, ids: Ids | undefined): void {
  const width = dims.at(-1)!;
  const columns = ids === undefined ? undefined : checkIds(ids, 2 ** 32).ids;
  for (let i = 0; i < data.length; i++) {
    const column = i % width;
    if ((columns?.[column] ?? column) >= limit) data[i] = -Infinity;
  }
}

/** Streams tensors into workers, each row to the worker that it belongs to. */
class ShardLoader {
  readonly #reader: RoleReader;

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
    await this.#reader.read(index, (plane, at, chunk) => table.write(plane, at, chunk));
    return table;
  }

  /** `embedding` itself where all bytes are the same. */
  async loadHead(index: number, embedding: ShardedTable): Promise<ShardedTable> {
    if (this.plan.tying !== 'compare') return this.load(index);
    if (!this.#isPlain(index)) {
      const same = await isTied(this.opened, this.plan, this.context.signal);
      return same ? embedding : this.load(index);
    }
    let own: ShardedTable | undefined;
    await this.#reader.readInOrder(index, async (plane, at, chunk) => {
      if (!own && (await embedding.holds(plane, at, chunk))) return;
      own ??= await embedding.copy();
      await own.write(plane, at, chunk);
    });
    return own ?? embedding;
  }

  /** True where each row's bytes are in the file as they will be in memory. */
  #isPlain(index: number): boolean {
    const { conversion, inlineBytes, spec } = this.plan.roles[index]!;
    return conversion === 'none' && inlineBytes === 0 && !spec.perTensor;
  }

  #create(index: number): Promise<ShardedTable> {
    const { spec, rows, segments } = this.plan.roles[index]!;
    const planes: number[] = [];
    for (const { plane, bytes } of segments) planes[plane] = (planes[plane] ?? 0) + bytes / rows;
    return ShardedTable.create(this.threads, spec, rows, planes);
  }

  /** What has to be put in order first is loaded into this thread's memory, and passed on from there. */
  async #loadHereFirst(index: number): Promise<ShardedTable> {
    const { spec, rows } = this.plan.roles[index]!;
    if (spec.perTensor) {
      throw new EmbeddingError(
        'unsupported',
        'A table whose rows share one scale cannot be spread over workers: load it with residency "memory".',
      );
    }
    const loader = new Loader(this.opened, this.plan.roles, this.wanted, this.context);
    using here: EmbeddingTable = await loader.load(index);
    const planes = here.planes.filter(({ bytes }) => bytes > 0);
    const rowBytes = planes.map(({ bytes }) => bytes / rows);
    const table = await ShardedTable.create(this.threads, spec, rows, rowBytes);
    for (const [plane, { address, bytes }] of planes.entries()) {
      for (let at = 0; at < bytes; at += kPieceBytes) {
        const piece = this.opened.core.memory.bytes(address + at, Math.min(kPieceBytes, bytes - at));
        await table.write(plane, at, piece);
      }
    }
    return table;
  }
}

async function workerCount(asked: number | 'auto' = 'auto', rows: number): Promise<number> {
  const most = Math.max(1, Math.floor(rows / kFewestRows));
  if (asked === 'auto') return Math.min(await processorCores(), kMostByDefault, most);
  if (Number.isInteger(asked) && asked >= 1) return Math.min(asked, rows);
  throw new RangeError(`workers is ${asked}; it must be "auto" or a whole number of at least 1`);
}

async function processorCores(): Promise<number> {
  const cores = (globalThis as { navigator?: { hardwareConcurrency?: number } }).navigator
    ?.hardwareConcurrency;
  if (cores !== undefined || !hasFileSystem()) return cores ?? 1;
  return (await nodeModule<typeof import('node:os')>('node:os')).availableParallelism();
}
