import type { MemoryUse } from '../info.js';
import type { EmbedOptions, HeadLogitsOptions, HeadTopKOptions } from '../stage_types.js';
import type { ModelStages } from '../stages.js';
import type { EmbeddingTable } from '../table.js';
import type { Ids, LookupOptions, Tensor, TopK } from '../types.js';
import type { Residency } from './residency.js';

/** @internal Rows in this thread's WebAssembly memory. */
export class MemoryResidency implements Residency {
  readonly kind = 'memory';

  constructor(
    readonly embedding: EmbeddingTable,
    readonly head: EmbeddingTable,
    readonly stages: ModelStages,
  ) {}

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

  dispose(): void {
    this.stages.dispose();
    this.head.dispose();
    this.embedding.dispose();
  }
}
