import type { PoolOptions } from '../stage_types.js';

export type OptimizerName = 'sgd' | 'momentum' | 'adagrad' | 'rowwise-adagrad' | 'adam' | 'adamw';

/** The formulas are in src/training/optimizer.h; names and defaults follow PyTorch. */
export interface TrainerOptions {
  /** Default `adam`. */
  optimizer?: OptimizerName;
  /** Default 0.001. */
  learningRate?: number;
  /** Of `momentum`. Default 0.9. */
  momentum?: number;
  /** Of `adam` and `adamw`. Default 0.9. */
  beta1?: number;
  /** Of `adam` and `adamw`. Default 0.999. */
  beta2?: number;
  /** Default 1e-8. */
  epsilon?: number;
  /** On touched rows only, unless `dense`. Default 0. */
  weightDecay?: number;
  /** The sum of squares that `adagrad` and `rowwise-adagrad` begin with. Default 0. */
  initialAccumulator?: number;
  /** Scales the gradient of a step down to this L2 norm. Default 0: off. */
  clipNorm?: number;
  /** Clamps every component of the gradient to ± this. Default 0: off. */
  clipValue?: number;
  /** Touched rows longer than this are scaled back to it after a step. Default 0: off. */
  maxNorm?: number;
  /** Every row moves in every step, as a naive optimizer would have it. Default false: only touched rows. */
  dense?: boolean;
  /** Bias correction by the steps of the row instead of those of the optimizer. Default false, as in SparseAdam. */
  perRowSteps?: boolean;
  /** Divide the gradient of an id by how often it stands in the call. Default false. */
  scaleGradByFreq?: boolean;
  /** A row that never moves. Default: the profile's `paddingId`; null: none. */
  paddingId?: number | null;
}

export const kDefaults = {
  learningRate: 1e-3,
  momentum: 0.9,
  beta1: 0.9,
  beta2: 0.999,
  epsilon: 1e-8,
  weightDecay: 0,
  initialAccumulator: 0,
  clipNorm: 0,
  clipValue: 0,
  maxNorm: 0,
  dense: false,
  perRowSteps: false,
} as const;

export type PoolGradientOptions = Pick<PoolOptions, 'offsets' | 'mode' | 'weights' | 'attentionMask'>;

/** Rows of ∂L/∂E that are not zero: row i belongs to indices[i], ascending. */
export interface SparseGradient {
  indices: Uint32Array;
  /** [indices.length, d] */
  values: Float32Array;
}

export interface CrossEntropy {
  loss: number;
  /** ∂L/∂h, [N, d] */
  dHidden: Float32Array;
}
