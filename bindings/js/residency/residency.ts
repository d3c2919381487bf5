import type { EmbeddingTable } from '../table.js';
import type { Ids, LogitsOptions, LookupOptions, Tensor, TopK, TopKOptions } from '../types.js';
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
  lookup(ids: Ids, options: LookupOptions): Tensor | Promise<Tensor>;
  logits(hidden: Float32Array | Tensor, options: LogitsOptions): Tensor | Promise<Tensor>;
  topK(hidden: Float32Array | Tensor, k: number, options: TopKOptions): TopK | Promise<TopK>;
  dispose(): void;
}
