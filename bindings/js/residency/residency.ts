import type { EmbeddingTable } from '../table.js';
import type { Ids, LogitsOptions, LookupOptions, Tensor, TopK, TopKOptions } from '../types.js';
import type { MemoryUse } from '../info.js';

/** @internal Where a model's rows live, and how they are reached. Arguments are checked by whoever reads them. */
export interface Residency {
  readonly isa: string;
  readonly memory: MemoryUse;
  /** Where the rows live in this thread. */
  readonly tables?: { embedding: EmbeddingTable; head: EmbeddingTable };
  lookup(ids: Ids, options: LookupOptions): Tensor | Promise<Tensor>;
  logits(hidden: Float32Array | Tensor, options: LogitsOptions): Tensor | Promise<Tensor>;
  topK(hidden: Float32Array | Tensor, k: number, options: TopKOptions): TopK | Promise<TopK>;
  dispose(): void;
}
