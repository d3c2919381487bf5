/** Functions of the package that most pages never call: what they are made of is loaded when they are. */
import type { ExportedFile, ExportOptions } from './export.js';
import { lazy } from './lazy.js';
import type { OpenOptions } from './open.js';
import type { SourceOptions } from './sources/open.js';
import type { SourceLike } from './sources/source.js';
import type { TokenizerFiles } from './tokenizer/json.js';
import type { Tokenizer, TokenizerOptions } from './tokenizer/tokenizer.js';

/**
 * Makes a file of a model's tables, in their own format or another one; `use` is called with it before its memory is
 * given back.
 */
export async function exportModel<T>(
  from: SourceLike,
  options: ExportOptions,
  use: (file: ExportedFile) => Promise<T>,
): Promise<T> {
  const part = await lazy('writing model files', () => import('./export.js'));
  return part.exportModel(from, options, use);
}

/**
 * The tokenizer of a model: from its GGUF metadata, or from the tokenizer.json beside it (or that `source` names).
 * Reads no weight.
 * @throws {EmbeddingError} `unsupported` for a kind of tokenizer that is not known, `not-found` where there is neither a
 * vocabulary nor a tokenizer.json, or where the optional package is not installed
 */
export async function openTokenizer(source: SourceLike, options: TokenizerOptions = {}): Promise<Tokenizer> {
  const part = await lazy('tokenizers', () => import('./tokenizer/tokenizer.js'));
  return part.openTokenizer(source, options);
}

/**
 * The same without the optional package: what it would be given, as objects in the shape of `tokenizer.json` and
 * `tokenizer_config.json`.
 */
export async function readTokenizer(
  source: SourceLike,
  options: OpenOptions & SourceOptions = {},
): Promise<TokenizerFiles> {
  const part = await lazy('tokenizers', () => import('./tokenizer/tokenizer.js'));
  return part.readTokenizer(source, options);
}
