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
import type { MemoryUse, ModelInfo, RemoteUse } from '../info.js';

/** @internal Where a model's rows live, and how they are reached. Arguments are checked by whoever reads them. */
export interface Residency {
  readonly kind: ModelInfo['residency'];
  /** Set where rows are fetched when they are needed. */
  readonly remote?: RemoteUse;
  /** True if the head is the embedding table itself. */
  readonly tied: boolean;
  readonly isa: string;
  readonly memory: MemoryUse;
  /** Where the rows live in this thread. */
  readonly tables?: { embedding: EmbeddingTable; head: EmbeddingTable };
  /** What surrounds the tables. */
  readonly stages: ModelStages;
  embed(ids: Ids, options: EmbedOptions): Tensor | Promise<Tensor>;
  lookup(ids: Ids, options: LookupOptions): Tensor | Promise<Tensor>;
  logits(hidden: Float32Array | Tensor, options: HeadLogitsOptions): Tensor | Promise<Tensor>;
  topK(hidden: Float32Array | Tensor, k: number, options: HeadTopKOptions): TopK | Promise<TopK>;
  pool(ids: Ids, options: PoolOptions): Tensor | Promise<Tensor>;
  nearest(query: number | Float32Array, k: number, options: NearestOptions): Neighbours | Promise<Neighbours>;
  analogy(positive: Ids, negative: Ids, k: number): Promise<Neighbours>;
  /** To be called after rows of `tables` were changed. */
  rowsChanged?(): void;
  dispose(): void;
}
