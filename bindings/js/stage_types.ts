/** Options of what surrounds a table: the input stage, the output stage, pooling, neighbours. */
import type { Ids, LogitsOptions, LookupOptions, TopKOptions } from './types.js';

/** One value per id: [N], or [B, N] for a batch. */
export type PerId =
  readonly number[] | readonly (readonly number[])[] | Int32Array | Uint32Array | Uint8Array;

export interface EmbedOptions extends LookupOptions {
  /** Tokens that came before these, when decoding step by step. Default 0. */
  positionOffset?: number;
  /** Positions instead of 0, 1, 2, …: one per id, or one per column of a batch. */
  positions?: PerId;
  /** 1 for tokens, 0 for padding; OPT counts its positions over it. Default: all 1. */
  attentionMask?: PerId;
  /** BERT's segment of each token. Default: all 0. */
  tokenTypeIds?: PerId;
}

/** What the output stage does after the dot product, besides what the profile says. */
export interface ScoreOptions {
  /** Ids that must not win: they score −∞. */
  forbid?: Ids;
  /** Divides the scores; above 0. Default 1. */
  temperature?: number;
  /** `softmax` gives probabilities over the ids that compete, `log-softmax` their logarithms. Default `logits`. */
  scores?: 'logits' | 'softmax' | 'log-softmax';
}

export interface HeadLogitsOptions extends LogitsOptions, ScoreOptions {
  /** Ids from here on score −∞: rows beyond the tokenizer's last token. Default: V, none. */
  limit?: number;
}

export interface HeadTopKOptions extends TopKOptions, ScoreOptions {
  /** Ids from here on do not compete. Default: the size of the tokenizer where the file tells it, else V. */
  limit?: number;
}

export interface PoolOptions extends LookupOptions {
  /** Where each bag begins in a flat list of ids: ascending, the first 0. Default: one bag, or one per row of a batch. */
  offsets?: readonly number[] | Uint32Array | Int32Array;
  /** Default `mean`: divided by the number of ids that count. */
  mode?: 'mean' | 'sum' | 'max';
  /** One weight per id; not with `max`. */
  weights?: readonly number[] | readonly (readonly number[])[] | Float32Array;
  /** 1 for ids that count, 0 for those that do not. */
  attentionMask?: PerId;
  /** An id that never counts. Default: the profile's `paddingId`; null: none. */
  paddingId?: number | null;
  /** Another id that never counts. Default: for model2vec files the profile's `unknownId`; null: none. */
  unknownId?: number | null;
  /** Columns to keep (Matryoshka). Default: all. */
  dimensions?: number;
  /** Scale each vector to unit length, after `dimensions`. Default: the profile's `normalize`. */
  normalize?: boolean;
}

export type Metric = 'cosine' | 'dot' | 'euclidean';

export interface NearestOptions {
  /** Default `cosine`. `euclidean` gives distances, smallest first. */
  metric?: Metric;
  /** Ids that are no neighbours. Default: the query, where it is an id. */
  exclude?: Ids;
  /** Ids from here on are no neighbours. Default: the size of the tokenizer where the file tells it, else V. */
  limit?: number;
}

/** Ids by nearness, nearest first; equal ones by the lower id. */
export interface Neighbours {
  values: Float32Array;
  indices: Int32Array;
}

/** Points in the plane of the two directions of greatest variance. */
export interface Plane {
  /** [N, 2], row-major. */
  data: Float32Array;
  dims: number[];
  /** Shares of the variance that the two axes hold. */
  explained: [number, number];
}
