/**
 * A factorized table E ≈ A · B: files keep A [V, k] and B, whose k rows are orthonormal, so lengths, angles and distances
 * of the rows of A are those of A · B. What a caller gives or gets has the width d of E.
 */
import { ComputedFloats, GivenFloats, pieceOf, withCall } from './call.js';
import type { Core } from './core.js';
import type { Handle } from './handle.js';
import type { Plan, Role } from './open.js';
import type { Metric, Neighbours } from './stage_types.js';

/** Makes a table a factorized one: Bᵀ [d, k] beside A [V, k]. The core knows this name. */
export const kFactorName = 'token_embd_projection.weight';

/** The role of Bᵀ, where the table is factorized. */
export function factorRole({ roles }: Plan): Role | undefined {
  return roles.find(({ role, name }) => role === 'projection' && name === kFactorName);
}

export class Factors {
  /** k: width of the rows of A. */
  readonly rank: number;
  /** d: width of the rows of E. */
  readonly dim: number;

  constructor(
    private readonly core: Core,
    private readonly stages: Handle,
    { rows, cols }: Role,
  ) {
    this.dim = rows;
    this.rank = cols;
  }

  /** Rows of A [n, k] → rows of E [n, d], in `out` where there is one. */
  expand(
    rows: Float32Array,
    out: Float32Array = new Float32Array((rows.length / this.rank) * this.dim),
  ): Float32Array {
    return this.#multiply(rows, false, out);
  }

  /** Vectors [n, d] → h · Bᵀ [n, k]. */
  #contract(vectors: Float32Array): Float32Array {
    return this.#multiply(vectors, true, new Float32Array((vectors.length / this.dim) * this.rank));
  }

  /**
   * Neighbours of a vector [d], which `search` finds for its part within the span of B. The part outside is
   * perpendicular to all rows: it leaves the order as it is, lowers each cosine and adds to each distance.
   */
  async nearest(
    vector: Float32Array,
    metric: Metric,
    search: (within: Float32Array) => Neighbours | Promise<Neighbours>,
  ): Promise<Neighbours> {
    const within = this.#contract(vector);
    const { values, indices } = await search(within);
    const whole = squared(vector);
    const part = squared(within);
    const corrected = {
      dot: (value: number) => value,
      cosine: (value: number) => (whole > 0 ? value * Math.min(1, Math.sqrt(part / whole)) : value),
      euclidean: (value: number) => Math.sqrt(value * value + Math.max(0, whole - part)),
    };
    return { values: values.map(corrected[metric]), indices };
  }

  #multiply(vectors: Float32Array, down: boolean, out: Float32Array): Float32Array {
    const { core } = this;
    const [from, to] = down ? [this.dim, this.rank] : [this.rank, this.dim];
    const count = vectors.length / from;
    const [given, result] = [new GivenFloats(core, vectors), new ComputedFloats(core, out)];
    const atOnce = pieceOf(Math.max(from, to));
    for (let first = 0; first < count; first += atOnce) {
      const n = Math.min(atOnce, count - first);
      withCall(core, [], [given.bytes(n * from), result.bytes(n * to)], (call) => {
        const rows = given.give(call, first * from, n * from);
        result.fill(call.room(result.bytes(n * to)), first * to, n * to, (at) =>
          core.functions.throughFactors(this.stages.address, rows, n, down, at),
        );
      });
    }
    return result.data;
  }
}

function squared(vector: Float32Array): number {
  return vector.reduce((sum, value) => sum + value * value, 0);
}
