/** The geometry of a core's tables and of vectors of any width. */
import type { MainModule } from '../../build/wasm/id2vec.full.mjs';
import { checkHidden } from './arguments.js';
import { withCall } from './call.js';
import type { Core } from './core.js';
import { kMetrics } from './neighbours.js';
import { checkOneOf } from './stage_arguments.js';
import type { Metric, Plane } from './stage_types.js';
import type { EmbeddingTable } from './table.js';
import type { Tensor } from './types.js';

export class Geometry {
  constructor(
    private readonly core: Core,
    private readonly functions: MainModule,
  ) {}

  /** Σ unit rows of `positive` − Σ unit rows of `negative`, at unit length. Both are rows of `table`. */
  analogyTarget({ handle, dim }: EmbeddingTable, positive: Uint32Array, negative: Uint32Array): Float32Array {
    return withCall(this.core, [positive, negative], [dim * 4], (call) => {
      const [plus, minus, at] = [call.give(positive), call.give(negative), call.room(dim * 4)];
      const { analogyTarget } = this.functions;
      this.core.check(analogyTarget(handle, plus, positive.length, minus, negative.length, at));
      return this.core.memory.floats(at, dim);
    });
  }

  /** How vectors [N, width] stand to each other: [N, N]. */
  similarity(vectors: Tensor, metric: Metric): Tensor {
    const { data, count, width } = checkVectors(vectors);
    const which = checkOneOf('metric', metric, kMetrics);
    return withCall(this.core, [data], [count * count * 4], (call) => {
      const at = call.room(count * count * 4);
      this.core.check(this.functions.similarity(call.give(data), count, width, which, at));
      return { data: this.core.memory.floats(at, count * count), dims: [count, count] };
    });
  }

  /** Vectors [N, width] in the plane of their greatest variance: [N, 2]. */
  plane(vectors: Tensor): Plane {
    const { data, count, width } = checkVectors(vectors);
    return withCall(this.core, [data], [count * 2 * 4, 2 * 4], (call) => {
      const [at, sharesAt] = [call.room(count * 2 * 4), call.room(2 * 4)];
      this.core.check(this.functions.principalPlane(call.give(data), count, width, at, sharesAt));
      const [first, second] = this.core.memory.floats(sharesAt, 2);
      return {
        data: this.core.memory.floats(at, count * 2),
        dims: [count, 2],
        explained: [first!, second!],
      };
    });
  }

  /** a / (a + frequency) of `ids` ids; without counts, frequencies by rank (Zipf's law). */
  inverseFrequencies(ids: number, a: number, counts?: ArrayLike<number>): Float32Array {
    if (counts !== undefined && counts.length !== ids) {
      throw new TypeError(`counts has ${counts.length} values; it needs one per id, which are ${ids}`);
    }
    const given = counts === undefined ? undefined : Float64Array.from(counts);
    return withCall(this.core, [given], [ids * 4], (call) => {
      const at = call.room(ids * 4);
      this.core.check(this.functions.sifWeights(call.give(given), ids, a, at));
      return this.core.memory.floats(at, ids);
    });
  }
}

function checkVectors(vectors: Tensor): { data: Float32Array; count: number; width: number } {
  const width = vectors?.dims?.at(-1);
  if (width === undefined || width < 1)
    throw new TypeError('vectors must be { data: Float32Array, dims: […, width] }');
  const { data, count } = checkHidden(vectors, width);
  return { data, count, width };
}
