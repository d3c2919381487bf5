import { EmbeddingError } from '../errors.js';
import type { Plan, Profile } from '../open.js';
import type { HeadLogitsOptions } from '../stage_types.js';
import type { Tensor } from '../types.js';

/** Roles that change a hidden vector or a score by more than a factor. */
const kBeyond = [
  'head_bias',
  'head_projection',
  'head_projection_bias',
  'head_norm_weight',
  'head_norm_bias',
];

/**
 * The part of the output stage that leaves the ranking as it is, so that it can be done to the best of all shards:
 *
 *   score = softcap(dot(h · hiddenScale, row) · logitScale) / temperature,  softcap(z) = c · tanh(z / c)
 */
export class OutputStage {
  readonly #profile: Profile;
  readonly #beyond: string | undefined;

  constructor({ profile, roles }: Plan) {
    this.#profile = profile;
    this.#beyond = roles.find(({ role }) => kBeyond.includes(role))?.name ?? beyondFactors(profile);
  }

  /** @throws {EmbeddingError} `unsupported` for what needs the scores of all rows in one place */
  check({ forbid, scores = 'logits', temperature = 1 }: HeadLogitsOptions): void {
    if (!(temperature > 0)) throw new TypeError(`temperature is ${temperature}; it must be above 0`);
    const asked = forbid ? 'forbidden ids' : scores === 'logits' ? undefined : scores;
    const what = this.#beyond ?? asked;
    if (what === undefined) return;
    throw new EmbeddingError(
      'unsupported',
      `Rows in workers cannot be scored with ${what}: load the model with residency "memory".`,
    );
  }

  prepare(hidden: Float32Array | Tensor): Float32Array | Tensor {
    const { hiddenScale } = this.#profile;
    if (hiddenScale === 1) return hidden;
    if (hidden instanceof Float32Array) return hidden.map((value) => value * hiddenScale);
    return { ...hidden, data: hidden.data.map((value) => value * hiddenScale) };
  }

  /** In place. */
  finish(scores: Float32Array, { temperature = 1 }: HeadLogitsOptions): void {
    const { logitScale, softcap } = this.#profile;
    if (logitScale === 1 && softcap === 0 && temperature === 1) return;
    for (let i = 0; i < scores.length; i++) {
      const scaled = scores[i]! * logitScale;
      scores[i] = (softcap === 0 ? scaled : softcap * Math.tanh(scaled / softcap)) / temperature;
    }
  }
}

function beyondFactors(profile: Profile): string | undefined {
  if (profile.headActivation !== 'none') return `the activation ${profile.headActivation}`;
  if (profile.headNorm !== 'none') return `the norm ${profile.headNorm}`;
  if (profile.headThroughProjection) return 'a projection';
  return profile.logitScale > 0 ? undefined : 'a logit scale that is not positive';
}
