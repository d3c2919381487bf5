/** The package's entry: the same for Node, browsers, workers and other runtimes. */
export { cache, openCache } from './cache/default.js';
export { ModelCache } from './cache/cache.js';
export type { CachedFile, CacheOptions } from './cache/cache.js';
export { openDirectory } from './directory.js';
export type { Directory } from './directory.js';
export { EmbeddingError } from './errors.js';
export { exportModel, openTokenizer, readTokenizer } from './later.js';
export type { ExportedFile, ExportOptions, QuantizeReport } from './export.js';
export type { LoadTraffic, MemoryBill, MemoryUse, ModelDescription, ModelInfo, RemoteUse } from './info.js';
export { EmbeddingModel } from './model.js';
export type { FreshOptions, LoadOptions } from './model.js';
export type { MetadataValue, Profile, Progress, TensorInfo } from './open.js';
export type { RemoteOptions } from './residency/remote.js';
export type { WorkersOptions } from './residency/workers.js';
export type { SourceOptions } from './sources/open.js';
export type { ByteSource, SourceLike } from './sources/source.js';
export type {
  EmbedOptions,
  HeadLogitsOptions,
  HeadTopKOptions,
  Metric,
  NearestOptions,
  Neighbours,
  PerId,
  Plane,
  PoolOptions,
  ScoreOptions,
} from './stage_types.js';
export { EmbeddingTable, HeapFloats } from './table.js';
export type { TableOptions } from './table.js';
export type { TokenizerFiles } from './tokenizer/json.js';
export type { Tokenizer, TokenizerLibrary, TokenizerOptions } from './tokenizer/tokenizer.js';
export type { TokenList } from './tokens.js';
export type { Ids, LogitsOptions, LookupOptions, Precision, Tensor, TopK, TopKOptions } from './types.js';
export type { Isa, WasmInput, WasmOptions } from './wasm.js';
export type {
  CrossEntropy,
  OptimizerName,
  PoolGradientOptions,
  SparseGradient,
  TrainerOptions,
} from './training/options.js';
export type { Trainer } from './training/trainer.js';
