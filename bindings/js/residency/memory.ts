import type { MemoryUse } from '../info.js';
import { geometryOf } from '../extra.js';
import { checkAnalogy, checkNearest, Neighbourhood } from '../neighbours.js';
import type { Space } from '../neighbours.js';
import type {
  EmbedOptions,
  HeadLogitsOptions,
  HeadTopKOptions,
  NearestOptions,
  Neighbours,
  PoolOptions,
} from '../stage_types.js';
import type { ModelStages } from '../stages.js';
import type { EmbeddingTable } from '../table.js';
import type { Ids, LookupOptions, Tensor, TopK } from '../types.js';
import type { Residency } from './residency.js';

/** @internal Rows in this thread's WebAssembly memory. */
export class MemoryResidency implements Residency {
  readonly kind = 'memory';

  readonly #neighbourhood: Neighbourhood;

  constructor(
    readonly embedding: EmbeddingTable,
    readonly head: EmbeddingTable,
    readonly stages: ModelStages,
  ) {
    this.#neighbourhood = new Neighbourhood(embedding);
  }

  get tables(): { embedding: EmbeddingTable; head: EmbeddingTable } {
    return this;
  }

  get tied(): boolean {
    return this.head === this.embedding;
  }

  get isa(): string {
    return this.embedding.isa;
  }

  get memory(): MemoryUse {
    const head = this.tied ? 0 : this.head.bytes;
    return { embedding: this.embedding.bytes, head, heap: this.embedding.heapBytes };
  }

  lookup(ids: Ids, options: LookupOptions): Tensor {
    return this.embedding.lookup(ids, options);
  }

  embed(ids: Ids, options: EmbedOptions): Tensor {
    return this.stages.embed(ids, options);
  }

  logits(hidden: Float32Array | Tensor, options: HeadLogitsOptions): Tensor {
    return this.stages.logits(hidden, options);
  }

  topK(hidden: Float32Array | Tensor, k: number, options: HeadTopKOptions): TopK {
    return this.stages.topK(hidden, k, options);
  }

  pool(ids: Ids, options: PoolOptions): Tensor {
    return this.stages.pool(ids, options);
  }

  nearest(query: number | Float32Array, k: number, options: NearestOptions): Neighbours {
    const contest = checkNearest(query, k, options, this.#space);
    const vector = typeof query === 'number' ? this.embedding.lookup([query]).data : query;
    return this.#neighbourhood.nearest({ ...contest, vector });
  }

  async analogy(positive: Ids, negative: Ids, k: number): Promise<Neighbours> {
    const analogy = checkAnalogy(positive, negative, k, this.#space);
    const geometry = await geometryOf(this.embedding.core);
    const vector = geometry.analogyTarget(this.embedding, analogy.positive, analogy.negative);
    return this.#neighbourhood.nearest({ ...analogy, vector });
  }

  rowsChanged(): void {
    this.#neighbourhood.forgetNorms();
  }

  get #space(): Space {
    const { vocabSize, dim } = this.embedding;
    return { rows: vocabSize, dim, tokens: this.stages.tokenizerSize(vocabSize) };
  }

  dispose(): void {
    this.#neighbourhood.forgetNorms();
    this.stages.dispose();
    this.head.dispose();
    this.embedding.dispose();
  }
}
