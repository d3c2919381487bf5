import { checkIds, checkLimit } from '../arguments.js';
import type { Core } from '../core.js';
import type { MemoryUse } from '../info.js';
import type { Opened, Plan } from '../open.js';
import type { LoadContext } from '../read.js';
import { abortable } from '../sources/abort.js';
import { hasFileSystem, nodeModule } from '../sources/node.js';
import { geometryOf } from '../extra.js';
import { checkAnalogy, checkNearest } from '../neighbours.js';
import type { Space } from '../neighbours.js';
import { EmbeddingTable } from '../table.js';
import type {
  EmbedOptions,
  HeadLogitsOptions,
  HeadTopKOptions,
  NearestOptions,
  Neighbours,
  PoolOptions,
} from '../stage_types.js';
import type { ModelStages } from '../stages.js';
import type { Ids, LookupOptions, Tensor, TopK } from '../types.js';
import { WorkerThread } from '../worker/thread.js';
import { placesOf } from './places.js';
import { OutputStage } from './output_stage.js';
import type { RemoteRoles } from './remote.js';
import type { Residency } from './residency.js';
import { ShardLoader } from './shard_loader.js';
import type { ShardedTable } from './sharded_table.js';

export interface WorkersOptions extends LoadContext {
  /** How many. Default `auto`: one per processor core, eight at most. */
  workers?: number | 'auto';
  /** Where the worker's file lies, if not beside the package's own. */
  worker?: string | URL;
}

const kMostByDefault = 8;
/** Fewer rows than this are not worth a worker of their own. */
const kFewestRows = 64;

/** @internal Rows in worker threads, a run of them in each, with a WebAssembly memory of its own. */
export class WorkersResidency implements Residency {
  readonly kind = 'workers';

  private constructor(
    private readonly core: Core,
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
      const module = await core.workerModule();
      const starts = threads.map((thread) => thread.call('start', { module, isa: core.isa }));
      await abortable(Promise.all(starts), options.signal);
      const wanted = [...new Set([roles.embedding, roles.head])];
      const loader = new ShardLoader(opened, plan, wanted, threads, options);
      const embedding = await loader.load(roles.embedding);
      const head = wanted.length === 1 ? embedding : await loader.loadHead(roles.head, embedding);
      await loader.close();
      const heaps = await Promise.all(threads.map((thread) => thread.call('heapBytes', {})));
      const heap = heaps.reduce((sum, bytes) => sum + bytes, core.memory.size);
      const output = new OutputStage(plan);
      return new WorkersResidency(core, threads, embedding, head, output, stages, heap);
    } catch (error) {
      for (const thread of threads) thread.dispose();
      stages.dispose();
      throw error;
    }
  }

  get isa(): string {
    return this.core.isa;
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

  async pool(ids: Ids, options: PoolOptions): Promise<Tensor> {
    const call = this.stages.checkPool(ids, options);
    return this.#withRows(this.stages.rowsOf(call.ids), (table, places) =>
      this.stages.runPool(call, { table, places }),
    );
  }

  async nearest(query: number | Float32Array, k: number, options: NearestOptions): Promise<Neighbours> {
    const contest = checkNearest(query, k, options, this.#space);
    const vector = typeof query === 'number' ? (await this.lookup([query], {})).data : query;
    return this.embedding.nearest({ ...contest, vector });
  }

  async analogy(positive: Ids, negative: Ids, k: number): Promise<Neighbours> {
    const analogy = checkAnalogy(positive, negative, k, this.#space);
    const ids = Uint32Array.of(...analogy.positive, ...analogy.negative);
    const geometry = await geometryOf(this.stages.core);
    const vector = await this.#withRows(ids, (table, places) => {
      const split = analogy.positive.length;
      return geometry.analogyTarget(table, places.subarray(0, split), places.subarray(split));
    });
    return this.embedding.nearest({ k, metric: analogy.metric, exclude: ids, limit: analogy.limit, vector });
  }

  get #space(): Space {
    const { rows, cols } = this.embedding;
    return { rows, dim: cols, tokens: this.stages.tokenizerSize(rows) };
  }

  /** Calls `use` with a table of the rows of `ids` in this thread, and the place in it of each id. */
  async #withRows<T>(ids: Uint32Array, use: (table: EmbeddingTable, places: Uint32Array) => T): Promise<T> {
    const { unique, places } = placesOf(ids);
    const { data } = await this.lookup(unique, {});
    // A table of no rows cannot be, but nothing may be asked for.
    const spec = { dtype: 'F32', cols: this.embedding.cols };
    using table = EmbeddingTable.allocate(this.core, spec, Math.max(unique.length, 1));
    this.core.memory.writeFloats(table.address, data);
    return use(table, places);
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
