/** Neighbours in a table: what is asked for, checked; and the search in a table of this thread. */
import { checkHidden, checkIds, checkK, checkLimit } from './arguments.js';
import { GivenFloats, kNearestCall, withCall } from './call.js';
import { checkOneOf } from './stage_arguments.js';
import type { NearestOptions, Neighbours } from './stage_types.js';
import type { EmbeddingTable } from './table.js';
import type { Ids } from './types.js';

/** In the order of the core's enumeration. */
export const kMetrics = ['cosine', 'dot', 'euclidean'] as const;
const kDot = kMetrics.indexOf('dot');
const kEuclidean = kMetrics.indexOf('euclidean');

/** Which rows compete, and how. */
export interface Contest {
  k: number;
  /** Index into kMetrics. */
  metric: number;
  exclude: Uint32Array;
  limit: number;
}

export interface Query extends Contest {
  /** [d] */
  vector: Float32Array;
}

/** What is known of a table that neighbours are looked for in. */
export interface Space {
  rows: number;
  dim: number;
  /** Ids from here on are no tokens. */
  tokens: number;
}

/** True where small values are near. */
export function smallestFirst(metric: number): boolean {
  return metric === kEuclidean;
}

export function checkQuery(query: Float32Array, dim: number): void {
  if (checkHidden(query, dim).count === 1) return;
  throw new TypeError(`the query has ${query.length} values; it must be one vector of ${dim}`);
}

export function checkNearest(
  query: number | Float32Array,
  k: number,
  options: NearestOptions,
  { rows, dim, tokens }: Space,
): Contest {
  const isId = typeof query === 'number';
  if (isId) checkIds([query], rows);
  else checkQuery(query, dim);
  const metric = checkOneOf('metric', options.metric ?? 'cosine', kMetrics);
  const exclude = checkIds(options.exclude ?? (isId ? [query] : []), rows).ids;
  const limit = options.limit ?? tokens;
  checkLimit(limit, rows);
  checkK(k, competitors(exclude, limit));
  return { k, metric, exclude, limit };
}

/** By cosine; the ids that it is made of do not compete. */
export interface Analogy extends Contest {
  positive: Uint32Array;
  negative: Uint32Array;
}

export function checkAnalogy(positive: Ids, negative: Ids, k: number, { rows, tokens }: Space): Analogy {
  const plus = checkIds(positive, rows).ids;
  const minus = checkIds(negative, rows).ids;
  if (plus.length === 0) throw new TypeError('An analogy needs one positive id or more.');
  const exclude = Uint32Array.of(...plus, ...minus);
  checkK(k, competitors(exclude, tokens));
  return { positive: plus, negative: minus, k, metric: 0, exclude, limit: tokens };
}

function competitors(exclude: Uint32Array, limit: number): number {
  let count = limit;
  for (const id of new Set(exclude)) if (id < limit) count--;
  return count;
}

/** The rows of a table and their lengths, which are computed by the first search that needs them. */
export class Neighbourhood {
  #norms = 0;

  constructor(private readonly table: EmbeddingTable) {}

  nearest({ vector, k, metric, exclude, limit }: Query): Neighbours {
    const { core, handle, dim } = this.table;
    const given = new GivenFloats(core, vector);
    const norms = metric === kDot ? 0 : this.#ownNorms();
    return withCall(core, [exclude], [given.bytes(dim), k * 4, k * 4], (call) => {
      const [query, excluded] = [given.give(call, 0, dim), call.give(exclude)];
      const [values, indices] = [call.room(k * 4), call.room(k * 4)];
      const fields = { query, k, metric, exclude: excluded, excludeLength: exclude.length, limit };
      const search = call.struct(kNearestCall, fields);
      core.check(core.functions.nearest(handle, norms, search, values, indices));
      const found = { values: new Float32Array(k), indices: new Int32Array(k) };
      core.memory.readFloats(values, k, found.values, 0);
      core.memory.readInt32s(indices, k, found.indices, 0);
      return found;
    });
  }

  /** To be called after rows have changed, and when the table goes. */
  forgetNorms(): void {
    if (this.#norms !== 0) this.table.core.memory.release(this.#norms);
    this.#norms = 0;
  }

  #ownNorms(): number {
    if (this.#norms !== 0) return this.#norms;
    const { core, handle, vocabSize } = this.table;
    const at = core.memory.allocate(vocabSize * 4);
    try {
      core.check(core.functions.rowNorms(handle, at));
    } catch (error) {
      core.memory.release(at);
      throw error;
    }
    return (this.#norms = at);
  }
}
