/**
 * What surrounds the tables of a model that lives in this thread's memory: embed, the output stage, pooling.
 * Arguments are checked here; results are computed in pieces, so that a large call leaves the memory small.
 */
import { checkHidden, checkIds, checkK, checkLimit, checkOut, checkPrecision } from './arguments.js';
import type { CheckedHidden, CheckedIds } from './arguments.js';
import {
  ComputedFloats,
  GivenFloats,
  kEmbedCall,
  kHeadCall,
  kHiddenAtOnce,
  kPoolCall,
  pieceOf,
  withCall,
} from './call.js';
import type { Call } from './call.js';
import type { Core } from './core.js';
import type { Factors } from './factors.js';
import type { Handle } from './handle.js';
import type { Profile } from './open.js';
import { checkPool } from './pool_arguments.js';
import type { Gathered, PoolCall } from './pool_arguments.js';
import { checkOneOf, checkPerId, checkWhole } from './stage_arguments.js';
import type {
  EmbedOptions,
  HeadLogitsOptions,
  HeadTopKOptions,
  PoolOptions,
  ScoreOptions,
} from './stage_types.js';
import type { NamedTable } from './stage_loading.js';
import { EmbeddingTable } from './table.js';
import type { Ids, Tensor, TopK } from './types.js';

const kScores = ['logits', 'softmax', 'log-softmax'] as const;

export class ModelStages {
  /** Ids are 0 to this − 1: V, or the length of the mapping of a static embedding. */
  readonly ids: number;
  /** Tensors beside embedding and head that were read from the file. */
  readonly others: readonly NamedTable[];
  /** Set where the embedding is factorized. */
  readonly factors: Factors | undefined;
  readonly #handle: Handle;
  readonly #profile: Profile;
  readonly #vocabSize: number;
  readonly #dim: number;
  #headSize: number;
  /** The head is a stand-in, whose ids are places. */
  #standIn = false;
  /** Tables of the stages alone. */
  readonly #own: EmbeddingTable[];

  /**
   * Takes the handle and `own` over; `embedding` and `head` are the caller's and have to live as long. `rows`: of the
   * whole embedding table, where `embedding` is a stand-in.
   */
  constructor(
    readonly core: Core,
    handle: Handle,
    profile: Profile,
    tables: {
      embedding: EmbeddingTable;
      head: EmbeddingTable;
      own: readonly EmbeddingTable[];
      others?: readonly NamedTable[];
      factors?: Factors;
      rows?: number;
    },
  ) {
    this.#handle = handle;
    this.#profile = profile;
    this.#own = [...tables.own];
    this.others = tables.others ?? [];
    this.factors = tables.factors;
    this.#vocabSize = tables.rows ?? tables.embedding.vocabSize;
    core.functions.setRows(handle.address, this.#vocabSize);
    this.#dim = tables.embedding.dim;
    this.#headSize = tables.head.vocabSize;
    this.ids = core.functions.countIds(handle.address);
  }

  /** Takes tables over that the stages use. */
  own(...tables: EmbeddingTable[]): void {
    this.#own.push(...tables);
  }

  embed(ids: Ids, options: EmbedOptions = {}): Tensor {
    const checked = checkIds(ids, this.#vocabSize);
    return this.#embed(checked, options, undefined);
  }

  /**
   * Scores a table of a few rows instead of the head: ids are its places then, and `ids[place]` is the id that the row
   * belongs to.
   */
  withHead<T>(table: EmbeddingTable, ids: Uint32Array, use: () => T): T {
    const size = this.#headSize;
    const { useHead } = this.core.functions;
    withCall(this.core, [ids], [], (call) =>
      useHead(this.#handle.address, table.handle, call.give(ids), ids.length),
    );
    this.#headSize = table.vocabSize;
    this.#standIn = true;
    try {
      return use();
    } finally {
      useHead(this.#handle.address, 0, 0, 0);
      this.#headSize = size;
      this.#standIn = false;
    }
  }

  /** Tokens of the tokenizer; `rows` where the file does not tell. */
  tokenizerSize(rows: number): number {
    const size = this.#profile.vocabularySize;
    return size > 0 ? Math.min(size, rows) : rows;
  }

  /** The same for rows that live elsewhere: `rows` = E[ids]. */
  embedRows(ids: Ids, rows: Float32Array, options: EmbedOptions = {}): Tensor {
    return this.#embed(checkIds(ids, 2 ** 32), options, rows);
  }

  #embed(checked: CheckedIds, options: EmbedOptions, rows: Float32Array | undefined): Tensor {
    const { ids, dims } = checked;
    const width = this.core.functions.embedWidth(this.#handle.address);
    const length = dims.at(-1)!;
    const batch = dims.length === 1 ? 1 : dims[0]!;
    const positions = checkPerId('positions', options.positions, Uint32Array);
    const mask = checkPerId('attentionMask', options.attentionMask, Uint8Array);
    const types = checkPerId('tokenTypeIds', options.tokenTypeIds, Uint32Array);
    const past = checkWhole('positionOffset', options.positionOffset ?? 0);
    const result = this.#result(options.out, ids.length * width);
    const perSequence = positions !== undefined && positions.length === ids.length;
    if (positions !== undefined && !perSequence && positions.length !== length) {
      throw new TypeError(
        `positions has ${positions.length} values; it needs one per id, which are ${ids.length}`,
      );
    }
    for (const [name, values] of [['attentionMask', mask] as const, ['tokenTypeIds', types] as const]) {
      if (values === undefined || values.length === ids.length) continue;
      throw new TypeError(
        `${name} has ${values.length} values; it needs one per id, which are ${ids.length}`,
      );
    }
    const atOnce = result.atOnce(length * width);
    for (let first = 0; first < batch && ids.length > 0; first += atOnce) {
      const count = Math.min(atOnce, batch - first);
      const from = first * length;
      const to = (first + count) * length;
      const given = {
        ids: ids.subarray(from, to),
        positions: perSequence ? positions.subarray(from, to) : positions,
        mask: mask?.subarray(from, to),
        types: types?.subarray(from, to),
        rows: rows?.subarray(from * this.#dim, to * this.#dim),
      };
      const floats = (to - from) * width;
      withCall(this.core, Object.values(given), [result.bytes(floats)], (call) => {
        const fields = call.struct(kEmbedCall, {
          ids: call.give(given.ids),
          batch: count,
          length,
          past,
          positions: call.give(given.positions),
          positionsLength: given.positions?.length ?? 0,
          attentionMask: call.give(given.mask),
          tokenTypes: call.give(given.types),
          rows: call.give(given.rows),
        });
        result.fill(call.room(result.bytes(floats)), from * width, floats, (at) =>
          this.core.functions.embed(this.#handle.address, fields, at),
        );
      });
    }
    return { data: result.data, dims: [...dims, width] };
  }

  logits(hidden: Float32Array | Tensor, options: HeadLogitsOptions = {}): Tensor {
    const checked = checkHidden(hidden, this.#hiddenWidth);
    const head = this.#headCall(options, options.limit ?? this.#headSize);
    const width = head.allowed?.length ?? this.#headSize;
    const result = this.#result(options.out, checked.count * width);
    if (width > 0) {
      const atOnce = result.atOnce(width, kHiddenAtOnce);
      this.#forHidden(checked, head, atOnce, [result.bytes(width)], (call, fields, first, count) => {
        result.fill(call.room(result.bytes(count * width)), first * width, count * width, (at) =>
          this.core.functions.headLogits(this.#handle.address, fields, at),
        );
      });
    }
    return { data: result.data, dims: [...checked.dims, width] };
  }

  topK(hidden: Float32Array | Tensor, k: number, options: HeadTopKOptions = {}): TopK {
    const checked = checkHidden(hidden, this.#hiddenWidth);
    const limit = options.limit ?? (this.#standIn ? this.#headSize : this.tokenizerSize(this.#headSize));
    const head = this.#headCall(options, limit);
    checkK(k, competing(head.allowed, head.forbidden, limit));
    const values = new Float32Array(checked.count * k);
    const indices = new Int32Array(checked.count * k);
    const atOnce = Math.max(pieceOf(Math.max(k, this.#hiddenWidth)), kHiddenAtOnce);
    this.#forHidden(checked, head, atOnce, [k * 4, k * 4], (call, fields, first, count) => {
      const [valuesAt, indicesAt] = [call.room(count * k * 4), call.room(count * k * 4)];
      const { headTopK } = this.core.functions;
      this.core.check(headTopK(this.#handle.address, fields, k, valuesAt, indicesAt));
      this.core.memory.readFloats(valuesAt, count * k, values, first * k);
      this.core.memory.readInt32s(indicesAt, count * k, indices, first * k);
    });
    return { values, indices, dims: [...checked.dims, k] };
  }

  /** Rows of the table that ids have, which were checked: the ids themselves, but for static embeddings with a mapping. */
  rowsOf(ids: Uint32Array): Uint32Array {
    return withCall(this.core, [ids], [ids.byteLength], (call) => {
      const given = call.give(ids);
      const at = call.room(ids.byteLength);
      this.core.check(this.core.functions.rowsOf(this.#handle.address, given, ids.length, at));
      return this.core.memory.uint32s(at, ids.length);
    });
  }

  /** Everything about a call of pool() but the rows. */
  checkPool(ids: Ids, options: PoolOptions): PlacedPoolCall {
    const call = checkPool(ids, options, {
      ids: this.ids,
      dim: this.factors?.dim ?? this.#dim,
      profile: this.#profile,
    });
    const { weights } = call.perId;
    return {
      ...call,
      weights: weights && new GivenFloats(this.core, weights),
      result: new ComputedFloats(this.core, call.out),
    };
  }

  pool(ids: Ids, options: PoolOptions = {}): Tensor {
    return this.runPool(this.checkPool(ids, options));
  }

  /** `gathered`: where the rows of the ids are, if the table is elsewhere. */
  runPool({ ids, bags, width, perId, weights, common, result }: PlacedPoolCall, gathered?: Gathered): Tensor {
    for (let first = 0; first < bags.count; first += kBagsAtOnce) {
      const count = Math.min(kBagsAtOnce, bags.count - first);
      const from = bags.start(first);
      const to = bags.start(first + count);
      const given = {
        ids: ids.subarray(from, to),
        offsets: bags.offsets(first, count),
        attentionMask: perId.attentionMask?.subarray(from, to),
        places: gathered?.places.subarray(from, to),
      };
      const bytes = [weights?.bytes(to - from) ?? 0, result.bytes(count * width)];
      withCall(this.core, Object.values(given), bytes, (call) => {
        const room = call.room(result.bytes(count * width));
        const fields = call.struct(kPoolCall, {
          ids: call.give(given.ids),
          idsLength: to - from,
          offsets: call.give(given.offsets),
          offsetsLength: given.offsets.length,
          attentionMask: call.give(given.attentionMask),
          sampleWeights: weights?.give(call, from, to - from) ?? 0,
          places: call.give(given.places),
          ...common,
        });
        const { pool } = this.core.functions;
        result.fill(room, first * width, count * width, (at) =>
          pool(this.#handle.address, gathered?.table.handle ?? 0, fields, at),
        );
      });
    }
    return { data: result.data, dims: [bags.count, width] };
  }

  /** The same for rows given as floats: `rows[places[i]]` is the one of the i-th id. */
  poolRows(call: PlacedPoolCall, rows: Float32Array, places: Uint32Array): Tensor {
    const cols = this.factors?.dim ?? this.#dim;
    // A table of no rows cannot be, but nothing may be asked for.
    const count = Math.max(rows.length / cols, 1);
    using table = EmbeddingTable.allocate(this.core, { dtype: 'F32', cols }, count);
    this.core.memory.writeFloats(table.address, rows);
    return this.runPool(call, { table, places });
  }

  /** Weights by id for pool(), instead of the file's. */
  setWeights(weights: Float32Array): void {
    withCall(this.core, [weights], [], (call) =>
      this.core.functions.setWeights(this.#handle.address, call.give(weights), weights.length),
    );
  }

  dispose(): void {
    this.#handle.delete();
    for (const table of this.#own) table.dispose();
  }

  get #hiddenWidth(): number {
    return this.core.functions.hiddenWidth(this.#handle.address);
  }

  #headCall(options: HeadLogitsOptions & ScoreOptions, limit: number): HeadArguments {
    checkLimit(limit, this.#headSize);
    return {
      allowed: options.ids === undefined ? undefined : checkIds(options.ids, this.#headSize).ids,
      forbidden: options.forbid === undefined ? undefined : checkIds(options.forbid, this.#headSize).ids,
      fast: checkPrecision(options.precision),
      scores: checkOneOf('scores', options.scores ?? 'logits', kScores),
      temperature: options.temperature ?? 1,
      limit,
    };
  }

  #result(out: Float32Array | undefined, length: number): ComputedFloats {
    return new ComputedFloats(
      this.core,
      out === undefined ? new Float32Array(length) : checkOut(out, length),
    );
  }

  /** Calls `compute` for piece after piece of the hidden vectors, with rooms of `resultBytes` per vector. */
  #forHidden(
    hidden: CheckedHidden,
    { allowed, forbidden, ...rest }: HeadArguments,
    atOnce: number,
    resultBytes: readonly number[],
    compute: (call: Call, fields: number, first: number, count: number) => void,
  ): void {
    const width = this.#hiddenWidth;
    const rows = new GivenFloats(this.core, hidden.data);
    for (let first = 0; first < hidden.count; first += atOnce) {
      const count = Math.min(atOnce, hidden.count - first);
      const bytes = [rows.bytes(count * width), ...resultBytes.map((each) => each * count)];
      withCall(this.core, [allowed, forbidden], bytes, (call) => {
        const fields = call.struct(kHeadCall, {
          hidden: rows.give(call, first * width, count * width),
          count,
          allowed: call.give(allowed),
          allowedLength: allowed?.length ?? 0,
          forbidden: call.give(forbidden),
          forbiddenLength: forbidden?.length ?? 0,
          ...rest,
        });
        compute(call, fields, first, count);
      });
    }
  }
}

/** Its floats are found at once: the memory that they may lie in can grow before they are used. */
interface PlacedPoolCall extends PoolCall {
  weights: GivenFloats | undefined;
  result: ComputedFloats;
}

/** Pooled at a time. */
const kBagsAtOnce = 1024;

interface HeadArguments {
  allowed: Uint32Array | undefined;
  forbidden: Uint32Array | undefined;
  fast: boolean;
  scores: number;
  temperature: number;
  limit: number;
}

function competing(
  allowed: Uint32Array | undefined,
  forbidden: Uint32Array | undefined,
  limit: number,
): number {
  const out = new Set(forbidden);
  if (allowed !== undefined)
    return allowed.reduce((sum, id) => sum + (id < limit && !out.has(id) ? 1 : 0), 0);
  let count = limit;
  for (const id of out) if (id < limit) count--;
  return count;
}
