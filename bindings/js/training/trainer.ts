/**
 * Trains the table of a model in place: gradients of a step are accumulated, then an optimizer moves the rows they touch.
 * Synchronous: a step costs what the touched rows cost, and a worker is the place for long runs.
 */
import type { MainModule } from '../../../build/wasm/id2vec.full.mjs';
import { checkHidden, checkIds } from '../arguments.js';
import { withCall } from '../call.js';
import type { Core } from '../core.js';
import { EmbeddingError } from '../errors.js';
import type { Handle } from '../handle.js';
import type { Profile } from '../open.js';
import { kPoolModes } from '../pool_arguments.js';
import { checkOneOf, checkPerId } from '../stage_arguments.js';
import type { EmbeddingTable } from '../table.js';
import type { Ids, Tensor } from '../types.js';
import { kDefaults } from './options.js';
import type { CrossEntropy, PoolGradientOptions, SparseGradient, TrainerOptions } from './options.js';

/** The fields of the structs of bindings/calls.h, in their order. */
export const kOptimizerCall = Object.keys(kDefaults) as (keyof typeof kDefaults)[];
export const kPoolGradientCall = [
  'ids',
  'count',
  'offsets',
  'offsetsLength',
  'bagLength',
  'mask',
  'weights',
  'dPooled',
  'dPooledLength',
  'mode',
] as const;

/** @internal What a trainer needs to know of its model. */
export interface Trainee {
  core: Core;
  embedding: EmbeddingTable;
  tied: boolean;
  profile: Profile;
  /** The rows go through a projection before the first layer. */
  projected: boolean;
  /** Called after rows have moved: what was computed from them is stale. */
  changed: () => void;
}

export class Trainer {
  readonly #trainee: Trainee;
  readonly #functions: MainModule;
  readonly #byFrequency: boolean;
  #handle: Handle | undefined;

  /** @internal Use `model.trainer(options)`. */
  constructor(trainee: Trainee, functions: MainModule, options: TrainerOptions) {
    const { core, embedding, profile } = trainee;
    const { optimizer = 'adam', scaleGradByFreq = false, paddingId = profile.paddingId, ...rest } = options;
    const unknown = Object.keys(rest).find((name) => !(name in kDefaults));
    if (unknown !== undefined) {
      throw new TypeError(`there is no option "${unknown}"; there are ${Object.keys(kDefaults).join(', ')}`);
    }
    this.#trainee = trainee;
    this.#functions = functions;
    this.#byFrequency = scaleGradByFreq;
    const { makeTrainer, deleteTrainer, useOptimizer } = functions;
    const handle = core.own(makeTrainer(embedding.handle, paddingId ?? -1), deleteTrainer);
    this.#handle = handle;
    try {
      const values = { ...kDefaults, ...definedOf(rest) };
      withCall(core, [], [], (call) => {
        core.check(useOptimizer(handle.address, optimizer, call.struct(kOptimizerCall, values)));
      });
    } catch (error) {
      this.dispose();
      throw error;
    }
  }

  /**
   * Adds ∂L/∂E[id_t] += s · dRows[t], for the rows of `lookup` (s = 1), or of `embed` (s = the profile's embedding
   * scale; added positions and token types leave the gradient as it is).
   *
   * @param dRows ∂L/∂X, [N, d] or [B, N, d]
   * @throws {TypeError} where the shape does not fit or a value is not finite; nothing is added then
   * @throws {EmbeddingError} `unsupported` for `embed` with a norm or a projection
   */
  accumulate(ids: Ids, dRows: Float32Array | Tensor, through: 'lookup' | 'embed' = 'lookup'): void {
    const { core, embedding, profile, projected } = this.#trainee;
    checkOneOf('through', through, ['lookup', 'embed']);
    if (through === 'embed' && (profile.norm !== 'none' || projected)) {
      throw new EmbeddingError(
        'unsupported',
        'This model has a norm or a projection behind its rows: differentiate those outside and use "lookup".',
      );
    }
    const handle = this.#alive();
    const checked = checkIds(ids, embedding.vocabSize).ids;
    const values = dataOf(dRows);
    const scale = through === 'embed' ? profile.embeddingScale : 1;
    core.check(
      withCall(core, [checked, values], [], (call) =>
        this.#functions.accumulate(
          handle,
          call.give(checked),
          checked.length,
          call.give(values),
          values.length,
          scale,
          this.#byFrequency,
        ),
      ),
    );
  }

  /** Adds the gradient of a `pool` without `normalize` and `dimensions`: dPooled is ∂L/∂y, [bags, d]. */
  accumulatePool(ids: Ids, dPooled: Float32Array | Tensor, options: PoolGradientOptions = {}): void {
    const { core, embedding } = this.#trainee;
    const handle = this.#alive();
    const { ids: checked, dims } = checkIds(ids, embedding.vocabSize);
    const mode = checkOneOf('mode', options.mode ?? 'mean', kPoolModes);
    const offsets = checkPerId('offsets', options.offsets, Uint32Array);
    const weights = checkPerId('weights', options.weights, Float32Array);
    const mask = checkPerId('attentionMask', options.attentionMask, Uint8Array);
    checkCount('weights', weights, checked.length);
    checkCount('attentionMask', mask, checked.length);
    const values = dataOf(dPooled);
    core.check(
      withCall(core, [checked, offsets, weights, mask, values], [], (call) =>
        this.#functions.accumulatePool(
          handle,
          call.struct(kPoolGradientCall, {
            ids: call.give(checked),
            count: checked.length,
            offsets: call.give(offsets),
            offsetsLength: offsets?.length ?? 0,
            bagLength: dims.at(-1)!,
            mask: call.give(mask),
            weights: call.give(weights),
            dPooled: call.give(values),
            dPooledLength: values.length,
            mode,
          }),
          this.#byFrequency,
        ),
      ),
    );
  }

  /**
   * The tied head's part, for a gradient of the logits that the caller has: adds dLogitsᵀ · h to every row.
   * @param hidden h, [N, d]
   * @param dLogits ∂L/∂z, [N, V]
   * @returns ∂L/∂h = dLogits · E, [N, d]
   */
  accumulateLogits(hidden: Float32Array | Tensor, dLogits: Float32Array | Tensor): Float32Array {
    const { core, embedding } = this.#trainee;
    const handle = this.#alive();
    const scale = this.#headScale();
    const { data, count } = checkHidden(hidden, embedding.dim);
    const values = dataOf(dLogits);
    if (values.length !== count * embedding.vocabSize) {
      throw new TypeError(
        `dLogits has ${values.length} values; [${count}, ${embedding.vocabSize}] are needed`,
      );
    }
    return withCall(core, [data, values], [data.byteLength], (call) => {
      const out = call.room(data.byteLength);
      const [from, gradient] = [call.give(data), call.give(values)];
      core.check(this.#functions.accumulateLogits(handle, from, count, gradient, scale, out));
      return core.memory.floats(out, data.length);
    });
  }

  /**
   * Softmax cross-entropy over the whole vocabulary with the tied head, fused: loss, ∂L/∂h and the table's gradient,
   * without an [N, V] array.
   * @param targets the right id of each hidden vector; −1 counts for nothing
   * @param reduction of the losses. Default `mean` over the targets that count
   */
  crossEntropy(
    hidden: Float32Array | Tensor,
    targets: readonly number[] | Int32Array,
    reduction: 'mean' | 'sum' = 'mean',
  ): CrossEntropy {
    const { core, embedding } = this.#trainee;
    const handle = this.#alive();
    const scale = this.#headScale();
    checkOneOf('reduction', reduction, ['mean', 'sum']);
    const { data, count } = checkHidden(hidden, embedding.dim);
    const wanted = Float64Array.from(targets);
    if (wanted.length !== count)
      throw new TypeError(`there are ${wanted.length} targets for ${count} hidden vectors`);
    wanted.forEach((target, n) => {
      if (Number.isInteger(target) && target >= -1 && target < embedding.vocabSize) return;
      throw new RangeError(
        `target ${target} at position ${n} is no id of ${embedding.vocabSize} rows, and not −1`,
      );
    });
    return withCall(core, [data, wanted], [data.byteLength], (call) => {
      const out = call.room(data.byteLength);
      const [from, ids] = [call.give(data), call.give(wanted)];
      const { crossEntropy, loss } = this.#functions;
      core.check(crossEntropy(handle, from, count, ids, scale, reduction === 'mean', out));
      return { loss: loss(handle), dHidden: core.memory.floats(out, data.length) };
    });
  }

  /**
   * Moves the rows that the accumulated gradient touches, and clears it.
   * @throws {TypeError} where the sums are not finite: table, state and gradient are as before the call
   */
  step(): void {
    const { core, changed } = this.#trainee;
    const handle = this.#alive();
    core.check(this.#functions.step(handle));
    this.#functions.zeroGradient(handle);
    changed();
  }

  /** Forgets the gradient that was accumulated since the last step. */
  zeroGrad(): void {
    this.#functions.zeroGradient(this.#alive());
  }

  /** A copy of what was accumulated since the last step. */
  gradient(): SparseGradient {
    const { core, embedding } = this.#trainee;
    const handle = this.#alive();
    const count = this.#functions.touched(handle);
    const bytes = count * embedding.dim * 4;
    return withCall(core, [], [count * 4, bytes], (call) => {
      const [ids, values] = [call.room(count * 4), call.room(bytes)];
      core.check(this.#functions.gradient(handle, ids, values));
      return {
        indices: core.memory.uint32s(ids, count),
        values: core.memory.floats(values, count * embedding.dim),
      };
    });
  }

  /** Bytes of optimizer state: proportional to the rows that were ever touched. */
  get stateBytes(): number {
    return this.#functions.stateBytes(this.#alive());
  }

  /** Rows that have optimizer state. */
  get stateRows(): number {
    return this.#functions.stateRows(this.#alive());
  }

  /** Steps so far. */
  get steps(): number {
    return this.#functions.steps(this.#alive());
  }

  /** For schedules. */
  setLearningRate(rate: number): void {
    const { core } = this.#trainee;
    core.check(this.#functions.setLearningRate(this.#alive(), rate));
  }

  /** The optimizer's state, to go on later with the same options. */
  saveState(): Uint8Array {
    const { core } = this.#trainee;
    const { saveState, stateAddress, stateLength, dropState } = this.#functions;
    const handle = this.#alive();
    core.check(saveState(handle));
    try {
      return core.memory.bytes(stateAddress(handle), stateLength(handle));
    } finally {
      dropState(handle);
    }
  }

  /** @throws {EmbeddingError} `malformed` for the state of another optimizer or table; nothing is restored then */
  restoreState(state: Uint8Array): void {
    const { core } = this.#trainee;
    const handle = this.#alive();
    const { restoreState } = this.#functions;
    core.check(withCall(core, [state], [], (call) => restoreState(handle, call.give(state), state.length)));
  }

  /** Frees gradient and state; the table stays with its model. */
  dispose(): void {
    this.#handle?.delete();
    this.#handle = undefined;
  }

  [Symbol.dispose](): void {
    this.dispose();
  }

  #headScale(): number {
    const { tied, profile } = this.#trainee;
    if (!tied) {
      throw new EmbeddingError(
        'unsupported',
        'The head of this model is a table of its own, which is not trained.',
      );
    }
    if (profile.softcap !== 0) {
      throw new EmbeddingError(
        'unsupported',
        'The gradient does not go through a softcap: load with profile.softcap 0.',
      );
    }
    return profile.hiddenScale * profile.logitScale;
  }

  #alive(): number {
    void this.#trainee.embedding.handle; // throws where the model was disposed of
    if (this.#handle !== undefined) return this.#handle.address;
    throw new EmbeddingError('disposed', 'This trainer was disposed of: make another one.');
  }
}

function dataOf(values: Float32Array | Tensor): Float32Array {
  const data = values instanceof Float32Array ? values : values?.data;
  if (data instanceof Float32Array) return data;
  throw new TypeError('a gradient must be a Float32Array or a tensor of one');
}

function checkCount(name: string, values: { length: number } | undefined, count: number): void {
  if (values === undefined || values.length === count) return;
  throw new TypeError(`${name} has ${values.length} values for ${count} ids`);
}

// An option that is given as undefined is not given.
function definedOf(options: object): object {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}
