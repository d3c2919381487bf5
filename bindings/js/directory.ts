import { openHeaders } from './open.js';
import type { MetadataValue, OpenOptions, TensorInfo } from './open.js';
import { openSource } from './sources/open.js';
import type { SourceOptions } from './sources/open.js';
import type { SourceLike } from './sources/source.js';

/** What the header of a model file says. */
export interface Directory {
  /** `GGUF`, `safetensors`, `PyTorch`, `npy`, `npz` or `ONNX`. */
  container: string;
  /** Names of all files that belong to it, the one it was opened by included. */
  files: string[];
  /** Shapes are row-major. */
  tensors: TensorInfo[];
  metadata: Map<string, MetadataValue>;
  /** What the file holds but id2vec cannot use, in sentences. */
  skipped: string[];
}

/**
 * Reads a model's headers (index, shards and splits included) and no weight.
 * @throws {EmbeddingError} where the file is no container that id2vec reads, is broken, or cannot be fetched
 */
export async function openDirectory(
  source: SourceLike,
  options: OpenOptions & SourceOptions = {},
): Promise<Directory> {
  const root = await openSource(source, options);
  try {
    const { opener, directory } = await openHeaders(root, options);
    opener.delete();
    return { ...directory, metadata: new Map(directory.metadata) };
  } finally {
    await root.close?.();
  }
}
