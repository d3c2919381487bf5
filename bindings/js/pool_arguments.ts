/** Checks of what `pool` is given, done before a row is read. */
import { checkIds, checkOut } from './arguments.js';
import type { CheckedIds } from './arguments.js';
import type { Profile } from './open.js';
import { checkOneOf, checkPerId, checkSpecialId, checkWhole } from './stage_arguments.js';
import type { PoolOptions } from './stage_types.js';
import type { EmbeddingTable } from './table.js';
import type { Ids } from './types.js';

export const kPoolModes = ['mean', 'sum', 'max'] as const;

/** The rows of some ids in a table of their own, and where in it the row of each id is. */
export interface Gathered {
  table: EmbeddingTable;
  places: Uint32Array;
}

/** A call of `pool` whose arguments are right. */
export interface PoolCall {
  ids: Uint32Array;
  bags: Bags;
  /** Columns of the result. */
  width: number;
  perId: { attentionMask: Uint8Array | undefined; weights: Float32Array | undefined };
  common: { mode: number; paddingId: number; unknownId: number; dimensions: number; normalize: boolean };
  out: Float32Array;
}

/** `ids`: how many there are; `dim`: columns of the table. */
export function checkPool(
  given: Ids,
  options: PoolOptions,
  { ids, dim, profile }: { ids: number; dim: number; profile: Profile },
): PoolCall {
  const checked = checkIds(given, ids);
  const bags = bagsOf(checked, options);
  const perId = {
    attentionMask: checkPerId('attentionMask', options.attentionMask, Uint8Array),
    weights: checkPerId('weights', options.weights, Float32Array),
  };
  const dimensions = checkWhole('dimensions', options.dimensions ?? 0);
  const width = dimensions || dim;
  const unknownByDefault = profile.family === 'static' ? profile.unknownId : -1;
  const common = {
    mode: checkOneOf('mode', options.mode ?? 'mean', kPoolModes),
    paddingId: checkSpecialId('paddingId', options.paddingId, profile.paddingId),
    unknownId: checkSpecialId('unknownId', options.unknownId, unknownByDefault),
    dimensions,
    normalize: options.normalize ?? profile.normalize,
  };
  for (const [name, values] of Object.entries(perId)) {
    if (values === undefined || values.length === checked.ids.length) continue;
    throw new TypeError(
      `${name} has ${values.length} values; it needs one per id, which are ${checked.ids.length}`,
    );
  }
  const length = bags.count * width;
  const out = options.out ? checkOut(options.out, length) : new Float32Array(length);
  return { ids: checked.ids, bags, width, perId, common, out };
}

/** A flat list is one bag, or several with `offsets`; a batch is one per row. */
function bagsOf({ ids, dims }: CheckedIds, { offsets }: PoolOptions): Bags {
  if (offsets === undefined) {
    const length = dims.at(-1)!;
    const count = dims.length === 1 ? 1 : dims[0]!;
    return new Bags(
      Uint32Array.from({ length: count }, (_, b) => b * length),
      ids.length,
    );
  }
  if (dims.length !== 1) throw new TypeError('offsets need a flat list of ids, not a batch');
  const starts = checkPerId('offsets', offsets, Uint32Array)!;
  starts.forEach((start, b) => {
    const least = b === 0 ? 0 : starts[b - 1]!;
    const most = b === 0 ? 0 : ids.length;
    if (start >= least && start <= most) return;
    throw new RangeError(`offset ${b} is ${start}; it must lie between ${least} and ${most}`);
  });
  return new Bags(starts, ids.length);
}

/** Where each bag begins in the list of ids. */
export class Bags {
  constructor(
    private readonly starts: Uint32Array,
    private readonly end: number,
  ) {}
  get count(): number {
    return this.starts.length;
  }
  start(bag: number): number {
    return this.starts[bag] ?? this.end;
  }
  /** Offsets of bags [first, first + count), counted from the first of them. */
  offsets(first: number, count: number): Uint32Array {
    return this.starts.slice(first, first + count).map((start) => start - this.start(first));
  }
}
