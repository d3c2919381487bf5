import { checkOut } from './arguments.js';
import type { Core } from './core.js';
import { EmbeddingError } from './errors.js';
import { describeModel, roleIndex } from './info.js';
import type { LoadTraffic, ModelDescription, ModelInfo } from './info.js';
import type { Handle } from './handle.js';
import { geometryOf, prepareTraining } from './extra.js';
import type { MakeTrainer } from './extra.js';
import type { Geometry } from './geometry.js';
import { lazy } from './lazy.js';
import { Loader } from './load.js';
import type { LoadContext } from './read.js';
import { checkHead, openModel } from './open.js';
import type { Opened, OpenOptions, Plan } from './open.js';
import { checkQuery } from './neighbours.js';
import { MemoryResidency } from './residency/memory.js';
import { placesOf } from './residency/places.js';
import type { Residency } from './residency/residency.js';
import type { RemoteOptions } from './residency/remote.js';
import { openSource } from './sources/open.js';
import type { SourceOptions } from './sources/open.js';
import type { SourceLike } from './sources/source.js';
import { loadStages, loadStagesAlone, stageRoles } from './stage_loading.js';
import type {
  EmbedOptions,
  HeadLogitsOptions,
  HeadTopKOptions,
  Metric,
  NearestOptions,
  Neighbours,
  Plane,
  PoolOptions,
} from './stage_types.js';
import type { WorkersOptions } from './residency/workers.js';
import type { EmbeddingTable } from './table.js';
import type { FreshTable } from './training/fresh.js';
import type { TrainerOptions } from './training/options.js';
import type { Trainer } from './training/trainer.js';
import { ComputedFloats } from './call.js';
import { CoreTokens } from './tokens.js';
import type { TokenList, Vocabulary } from './tokens.js';
import type { Ids, LookupOptions, Tensor, TopK } from './types.js';

export interface LoadOptions extends OpenOptions, SourceOptions, WorkersOptions {
  /**
   * Where the rows live: `memory`, the default, is this thread's. `workers` spreads them over threads, each with a
   * memory of its own: scoring is done side by side, and a table may pass 4 GB. `remote` loads nothing but headers,
   * and fetches the rows that a call needs.
   */
  residency?: 'memory' | 'workers' | 'remote';
  /** How `remote` behaves. */
  remote?: RemoteOptions;
}

/** A table that comes from no file. */
export interface FreshOptions
  extends FreshTable, Pick<LoadOptions, 'isa' | 'wasm' | 'extraWasm' | 'profile'> {}

/**
 * The embedding table and the head of one language model: token ids to vectors, hidden vectors to logits.
 *
 * A model holds memory outside JavaScript's: `dispose()` it, or declare it with `using`.
 */
export class EmbeddingModel {
  /** V: ids are 0 to V − 1. */
  readonly vocabSize: number;
  /** d: the width of a vector. */
  readonly dim: number;
  /** The format the embedding table is stored in: `F32`, `Q8_0`, … */
  readonly dtype: string;
  /** True if logits are computed with the embedding table itself, of which there is one copy in memory. */
  readonly tied: boolean;
  /** The vocabulary, where the file carries one. */
  readonly tokens?: TokenList;
  readonly #description: ModelDescription;
  /** The instance that read the file, which holds `#origin`. */
  readonly #core: Core;
  readonly #origin: Handle;
  #residency: Residency | undefined;
  #traffic: LoadTraffic | undefined;
  /** Why the file's own head cannot be read; empty where that is not so. */
  readonly #headProblem: string;
  /** Undefined for a table that cannot be trained as it is. */
  readonly #makeTrainer: MakeTrainer | undefined;

  private constructor(
    description: ModelDescription,
    residency: Residency,
    core: Core,
    rest: { origin: Handle; headProblem: string; makeTrainer: MakeTrainer | undefined },
  ) {
    const { origin, headProblem, makeTrainer } = rest;
    this.#headProblem = headProblem;
    this.#makeTrainer = makeTrainer;
    this.vocabSize = description.vocabSize;
    this.dim = description.dim;
    this.dtype = description.dtype;
    this.tied = description.tied;
    const vocabulary = core.answer<Vocabulary>(core.functions.vocabulary(origin.address));
    if (vocabulary.size > 0) this.tokens = new CoreTokens(core, vocabulary);
    this.#core = core;
    this.#description = description;
    this.#origin = origin;
    this.#residency = residency;
  }

  /**
   * Reads the headers, then the few tensors that are needed, straight to their final place.
   *
   * @param source a URL, a path (where the runtime has files), a Blob or File, bytes, or `{ byteLength, slice }`
   * @throws {EmbeddingError} where the file cannot be fetched, is broken, or holds no embedding table
   * @throws the signal's reason, once it aborts; all memory is freed then
   */
  static async load(source: SourceLike, options: LoadOptions = {}): Promise<EmbeddingModel> {
    const root = await openSource(source, options);
    let opened: Opened | undefined;
    // A remote model goes on reading: it closes what was opened when it is disposed of.
    let keepsOpen = false;
    try {
      opened = await openModel(root, options);
      const model = await EmbeddingModel.#fromHeaders(opened, options);
      keepsOpen = options.residency === 'remote';
      try {
        await opened.files.finish(options.signal);
        model.#traffic = await opened.traffic(options.signal);
      } catch (error) {
        model.dispose();
        throw error;
      }
      return model;
    } catch (error) {
      if (isUnusable(error)) await (opened?.files ?? root).discard?.();
      throw error;
    } finally {
      if (!keepsOpen) {
        opened?.opener.delete();
        await (opened?.files ?? root).close?.();
      }
    }
  }

  static async #fromHeaders(opened: Opened, options: LoadOptions): Promise<EmbeddingModel> {
    const plan = opened.plan();
    const training = mayTrain(plan, options) ? prepareTraining(opened.core) : undefined;
    const residency = await loadResidency(opened, plan, options);
    const makeTrainer = await training;
    const { headProblem } = plan;
    const tied = residency.tied && headProblem === '';
    const description = describeModel(opened, plan, tied, residency.kind !== 'remote');
    return new EmbeddingModel(description, residency, opened.core, {
      origin: opened.takeOrigin(),
      headProblem,
      makeTrainer,
    });
  }

  /** What the model is, where it lives and what it takes. */
  get info(): ModelInfo {
    const { kind, isa, memory, remote } = this.#alive();
    const traffic = this.#traffic;
    return {
      ...this.#description,
      residency: kind,
      isa,
      memory,
      ...(remote && { remote }),
      ...(traffic && { traffic }),
    };
  }

  /**
   * The embedding table as a synchronous layer: no promises, results in place. It dies with the model. Undefined
   * where the rows live elsewhere than in this thread.
   */
  get table(): EmbeddingTable | undefined {
    return this.#alive().tables?.embedding;
  }

  /** The same for the head; where the model is tied, it is `table` itself. Undefined where the head cannot be read. */
  get head(): EmbeddingTable | undefined {
    return this.#headProblem !== '' ? undefined : this.#alive().tables?.head;
  }

  /**
   * E[ids], dequantized: ids [N] → [N, d], [B, N] → [B, N, d].
   * @throws {RangeError} for an id outside [0, V): it names the id and its position, and `out` is untouched
   * @throws {TypeError} for anything but ids, and for rows of different lengths
   */
  async lookup(ids: Ids, options: LookupOptions = {}): Promise<Tensor> {
    const residency = this.#alive();
    const { stages } = residency;
    const { factors } = stages;
    if (factors === undefined) return residency.lookup(ids, options);
    // Its place is found at once: the memory that it may lie in can grow meanwhile.
    const place = options.out && new ComputedFloats(stages.core, options.out);
    const { data, dims } = await residency.lookup(ids, {});
    this.#alive();
    const out = place && checkOut(place.data, (data.length / factors.rank) * factors.dim);
    return { data: factors.expand(data, out), dims: [...dims.slice(0, -1), factors.dim] };
  }

  /**
   * The model's whole input stage: what its first layer receives. Lookup, × scale, + token types, + positions, norm,
   * projection, as far as the profile and the file have them: [N] → [N, width], [B, N] → [B, N, width].
   * @throws {RangeError} for an id, position or token type outside its table
   * @throws {EmbeddingError} `not-found` where the architecture adds something that the file does not hold
   */
  async embed(ids: Ids, options: EmbedOptions = {}): Promise<Tensor> {
    return this.#alive().embed(ids, options);
  }

  /**
   * The score of every id for each hidden vector, through the model's whole output stage: scale or projection, dot
   * product, logit scale, softcap, bias. [N, d] → [N, V]; with `ids`, [N, ids.length]. Raw dot products are
   * `head.logits`.
   * @throws {TypeError} where the last dimension is not the width of the model's hidden vectors
   * @throws {EmbeddingError} `unsupported` where the file's own head cannot be read (`info.warnings` says so from the
   *   start)
   */
  async logits(hidden: Float32Array | Tensor, options: HeadLogitsOptions = {}): Promise<Tensor> {
    return this.#withHead().logits(hidden, options);
  }

  /**
   * The k best ids of each hidden vector, best first, scored like `logits`. Ties go to the lower id; NaN never wins.
   * Rows beyond the tokenizer's last token do not compete, where the file tells its size.
   * @throws {RangeError} where k is not in [1, number of ids that compete]
   */
  async topK(hidden: Float32Array | Tensor, k: number, options: HeadTopKOptions = {}): Promise<TopK> {
    return this.#withHead().topK(hidden, k, options);
  }

  /**
   * One vector per bag of ids, as an embedding bag makes it: a flat list is one bag (or several, with `offsets`), a
   * batch one per row. Padding does not count; an empty bag gives zeros. → [bags, d]
   */
  async pool(ids: Ids, options: PoolOptions = {}): Promise<Tensor> {
    const residency = this.#alive();
    const { stages } = residency;
    if (stages.factors === undefined) return residency.pool(ids, options);
    const call = stages.checkPool(ids, options);
    const { unique, places } = placesOf(stages.rowsOf(call.ids));
    const { data } = await this.lookup(unique);
    this.#alive();
    return stages.poolRows(call, data, places);
  }

  /**
   * Gives `pool` weights by id: a / (a + frequency), which quietens common tokens (smooth inverse frequency). Without
   * counts, frequencies are estimated from the order of the ids.
   */
  async weighByFrequency(a: number, counts?: ArrayLike<number>): Promise<void> {
    const weights = (await this.#geometry()).inverseFrequencies(this.#alive().stages.ids, a, counts);
    this.#alive().stages.setWeights(weights);
  }

  /** The k rows nearest to the row of an id, or to a vector of width d. */
  async nearest(query: number | Float32Array, k: number, options: NearestOptions = {}): Promise<Neighbours> {
    const residency = this.#alive();
    const { factors } = residency.stages;
    if (factors === undefined || typeof query === 'number') return residency.nearest(query, k, options);
    checkQuery(query, factors.dim);
    return factors.nearest(query, options.metric ?? 'cosine', (within) =>
      residency.nearest(within, k, options),
    );
  }

  /** The k ids that complete an analogy: nearest, by cosine, to Σ positive − Σ negative of the unit rows. */
  async analogy({ positive, negative }: { positive: Ids; negative: Ids }, k: number): Promise<Neighbours> {
    return this.#alive().analogy(positive, negative, k);
  }

  /** How the rows of ids, or vectors of any width, stand to each other: [N, N]. */
  async similarity(of: Ids | Tensor, metric: Metric = 'cosine'): Promise<Tensor> {
    const vectors = await this.#vectors(of);
    return (await this.#geometry()).similarity(vectors, metric);
  }

  /** The rows of ids, or vectors of any width, in the plane of their greatest variance: [N, 2]. */
  async plane(of: Ids | Tensor): Promise<Plane> {
    const vectors = await this.#vectors(of);
    return (await this.#geometry()).plane(vectors);
  }

  /**
   * Trains the table in place: sparse gradients, optimizers that move only the rows a step touched.
   * @throws {EmbeddingError} `unsupported` where the table is not F32 (see `dequantize`) or not in this thread
   */
  trainer(options: TrainerOptions = {}): Trainer {
    const residency = this.#alive();
    const { tables, tied } = residency;
    if (tables === undefined) {
      throw new EmbeddingError(
        'unsupported',
        'trainer needs the rows in memory: load with residency "memory".',
      );
    }
    const { embedding } = tables;
    if (this.#makeTrainer === undefined) {
      const megabytes = (embedding.vocabSize * embedding.dim * 4) / 1e6;
      throw new EmbeddingError(
        'unsupported',
        `The table is ${embedding.dtype}, and only F32 can be trained: \`await model.dequantize()\` makes an F32 copy ` +
          `of ${megabytes.toFixed(1)} MB.`,
      );
    }
    const { profile, roles } = this.#description;
    const changed = () => residency.rowsChanged?.();
    const projected = 'projection' in roles;
    return this.#makeTrainer({ core: embedding.core, embedding, tied, profile, projected, changed }, options);
  }

  /**
   * A model of its own with the same rows as F32, which can be trained. It takes V · d · 4 bytes. Vocabulary and metadata
   * go with it; the table is its own head.
   */
  async dequantize(
    options: Pick<LoadOptions, 'isa' | 'wasm' | 'extraWasm' | 'signal'> = {},
  ): Promise<EmbeddingModel> {
    const rows = async (first: number, count: number) =>
      (await this.lookup(Array.from({ length: count }, (_, i) => first + i))).data;
    this.#alive();
    const { floatHeader } = await lazy('writing model files', () => import('./save.js'));
    const { rowSource } = await fresh();
    this.#alive();
    const header = await floatHeader(this.#core, this.#description, this.#origin);
    const source = rowSource({ vocabSize: this.vocabSize, dim: this.dim, rows, header });
    return EmbeddingModel.load(source, { ...options, profile: this.info.profile });
  }

  /**
   * A fresh F32 table [V, d] that is its own head, to be trained: weights from a normal distribution, the same for the
   * same seed. Row `profile.paddingId` is zero.
   */
  static async create(options: FreshOptions): Promise<EmbeddingModel> {
    const { vocabSize, dim, standardDeviation = 1 / Math.sqrt(dim), seed = 0, ...load } = options;
    const { checkFresh, rowSource } = await fresh();
    checkFresh(options);
    const { paddingId = -1 } = load.profile ?? {};
    if (!Number.isInteger(paddingId) || paddingId < -1 || paddingId >= vocabSize) {
      throw new RangeError(
        `profile.paddingId is ${paddingId}; it must be an id of ${vocabSize} rows, or −1 for none`,
      );
    }
    const source = rowSource({ vocabSize, dim, rows: (_, count) => new Float32Array(count * dim) });
    const model = await EmbeddingModel.load(source, load);
    const { core, handle } = model.table!;
    const { fillNormal } = await core.allFunctions();
    fillNormal(handle, standardDeviation, seed, paddingId);
    return model;
  }

  /**
   * The table, the head where it is another one, and what their stages use (positions, norms, projections, biases) as a
   * model file, with the vocabulary and all metadata of the file that the model comes from.
   * @returns the file's bytes, to write to disk or to put into a Blob
   */
  async save(container: 'gguf' | 'safetensors' = 'gguf'): Promise<Uint8Array<ArrayBuffer>> {
    const { tables, stages } = this.#withHead();
    if (tables === undefined) {
      throw new EmbeddingError('unsupported', 'save needs the rows in memory: load with residency "memory".');
    }
    const { embedding, head } = tables;
    const { saveTables } = await lazy('writing model files', () => import('./save.js'));
    this.#alive();
    return saveTables({ embedding, head, others: stages.others }, this.#description, this.#origin, container);
  }

  /** Frees the model's memory. Later calls reject with code `disposed`; disposing twice is harmless. */
  dispose(): void {
    if (this.#residency === undefined) return;
    this.#residency.dispose();
    this.#residency = undefined;
    this.#origin.delete();
    (this.tokens as CoreTokens | undefined)?.dispose();
  }

  [Symbol.dispose](): void {
    this.dispose();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.dispose();
  }

  async #geometry(): Promise<Geometry> {
    const geometry = await geometryOf(this.#alive().stages.core);
    this.#alive();
    return geometry;
  }

  async #vectors(of: Ids | Tensor): Promise<Tensor> {
    return 'dims' in of ? of : this.lookup(of);
  }

  #withHead(): Residency {
    const residency = this.#alive();
    checkHead({ headProblem: this.#headProblem });
    return residency;
  }

  #alive(): Residency {
    if (this.#residency !== undefined) return this.#residency;
    throw new EmbeddingError('disposed', 'This model was disposed of: load it again.');
  }
}

async function loadResidency(opened: Opened, plan: Plan, options: LoadOptions): Promise<Residency> {
  const { residency = 'memory', remote = {} } = options;
  // Whether two tensors that look alike are one shows only in all their bytes.
  const head = plan.tying === 'compare' || plan.tying === 'untied' ? roleIndex(plan, 'head') : -1;
  const roles = { embedding: 0, head: Math.max(head, 0) };
  const stagesAlone = () =>
    loadStagesAlone(opened, plan, new Loader(opened, plan.roles, stageRoles(plan), options), roles);
  switch (residency) {
    case 'memory':
      return loadIntoMemory(opened, plan, head, options);
    case 'workers': {
      const { WorkersResidency } = await lazy('rows in workers', () => import('./residency/workers.js'));
      return WorkersResidency.load(opened, plan, roles, await stagesAlone(), options);
    }
    case 'remote': {
      const { RemoteResidency } = await lazy('remote rows', () => import('./residency/remote.js'));
      return new RemoteResidency(opened, plan.roles, roles, await stagesAlone(), remote, (signal) =>
        loadIntoMemory(opened, plan, head, { signal, onProgress: options.onProgress }),
      );
    }
    default:
      throw new TypeError(
        `residency must be "memory", "workers" or "remote", not ${JSON.stringify(residency)}`,
      );
  }
}

/** `head`: index of the head's role; −1 where there is none of its own. */
async function loadIntoMemory(
  opened: Opened,
  plan: Plan,
  head: number,
  context: LoadContext,
): Promise<MemoryResidency> {
  const wanted = [...(head < 0 ? [0] : [0, head]), ...stageRoles(plan)];
  const loader = new Loader(opened, plan.roles, wanted, context);
  const tables: EmbeddingTable[] = [await loader.load(0)];
  const embedding = tables[0]!;
  try {
    if (head >= 0 && plan.tying === 'untied') tables.push(await loader.load(head));
    else if (head >= 0) tables.push(await loader.loadUnlessEqual(head, embedding));
    const both = { embedding, head: tables.at(-1)! };
    const stages = await loadStages(opened, plan, loader, both);
    return new MemoryResidency(both.embedding, both.head, stages);
  } catch (error) {
    for (const table of tables) table.dispose();
    throw error;
  }
}

function fresh(): Promise<typeof import('./training/fresh.js')> {
  return lazy('fresh tables', () => import('./training/fresh.js'));
}

function mayTrain({ roles }: Plan, { residency = 'memory' }: LoadOptions): boolean {
  return residency === 'memory' && roles[0]?.dtype === 'F32';
}

// What was fetched is broken, as opposed to: it was not fetched, or not wanted any more.
function isUnusable(error: unknown): boolean {
  return (
    error instanceof EmbeddingError &&
    ['truncated', 'malformed', 'unsupported', 'integrity'].includes(error.code)
  );
}
