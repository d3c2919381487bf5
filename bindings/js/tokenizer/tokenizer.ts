/** Text to ids: by the vocabulary inside of a GGUF file, or by the tokenizer.json beside another one. */
import { EmbeddingError } from '../errors.js';
import { openHeaders } from '../open.js';
import type { OpenOptions } from '../open.js';
import { isAbsent } from '../sources/checks.js';
import { openSource } from '../sources/open.js';
import type { SourceOptions } from '../sources/open.js';
import type { Source, SourceLike } from '../sources/source.js';
import { tokenizerFiles } from './json.js';
import type { TokenizerFiles } from './json.js';
import { parseJson } from '../vocabulary.js';
import { readGgufVocabulary } from './vocabulary.js';

/** What is needed of `@huggingface/tokenizers`. */
export interface TokenizerLibrary {
  Tokenizer: new (
    json: object,
    config: object,
  ) => {
    encode(text: string, options: { add_special_tokens: boolean }): { ids: number[] };
    decode(ids: number[], options: { skip_special_tokens: boolean }): string;
    get_vocab(): Map<string, number>;
  };
}

export interface TokenizerOptions extends OpenOptions, SourceOptions {
  /**
   * The optional package `@huggingface/tokenizers`, as imported. Without it the package is imported by its name, which
   * a page without a bundler or an import map cannot do.
   */
  library?: TokenizerLibrary;
}

export interface Tokenizer {
  /** Ids are 0 to this − 1. The embedding table may have more rows. */
  readonly size: number;
  /** What the library was given: a tokenizer.json and its configuration. */
  readonly files: TokenizerFiles;
  /** `specialTokens`: BOS, EOS, [CLS], [SEP] where the model wants them. Default true. */
  encode(text: string, options?: { specialTokens?: boolean }): number[];
  /** `specialTokens`: show them. Default true. */
  decode(ids: Iterable<number>, options?: { specialTokens?: boolean }): string;
}

/**
 * The tokenizer of a model: from its GGUF metadata, or from the tokenizer.json beside it (or that `source` names).
 * Reads no weight.
 * @throws {EmbeddingError} `unsupported` for a kind of tokenizer that is not known, `not-found` where there is neither a
 * vocabulary nor a tokenizer.json, or where the optional package is not installed
 */
export async function openTokenizer(source: SourceLike, options: TokenizerOptions = {}): Promise<Tokenizer> {
  const library = options.library ?? (await importLibrary());
  return new LibraryTokenizer(library, await readTokenizer(source, options));
}

/**
 * The same without the optional package: what it would be given, as objects in the shape of `tokenizer.json` and
 * `tokenizer_config.json`.
 */
export async function readTokenizer(
  source: SourceLike,
  options: OpenOptions & SourceOptions = {},
): Promise<TokenizerFiles> {
  const root = await openSource(source, options);
  try {
    if (root.name.endsWith('.json')) return required(root, await jsonFiles(root, root.name, options.signal));
    return await ownOrBeside(root, options);
  } finally {
    await root.close?.();
  }
}

class LibraryTokenizer implements Tokenizer {
  readonly size: number;
  readonly #tokenizer: InstanceType<TokenizerLibrary['Tokenizer']>;

  constructor(
    { Tokenizer }: TokenizerLibrary,
    readonly files: TokenizerFiles,
  ) {
    this.#tokenizer = new Tokenizer(files.json, files.config);
    let size = 0;
    for (const id of this.#tokenizer.get_vocab().values()) size = Math.max(size, id + 1);
    this.size = size;
  }

  encode(text: string, { specialTokens = true }: { specialTokens?: boolean } = {}): number[] {
    return this.#tokenizer.encode(text, { add_special_tokens: specialTokens }).ids;
  }

  decode(ids: Iterable<number>, { specialTokens = true }: { specialTokens?: boolean } = {}): string {
    const list = [...ids];
    return list.length === 0 ? '' : this.#tokenizer.decode(list, { skip_special_tokens: !specialTokens });
  }
}

async function importLibrary(): Promise<TokenizerLibrary> {
  // The name is a variable so that bundlers and the type checker leave the optional package alone.
  const name = '@huggingface/tokenizers';
  try {
    return (await import(/* webpackIgnore: true */ /* @vite-ignore */ name)) as TokenizerLibrary;
  } catch {
    throw new EmbeddingError(
      'not-found',
      `Text needs the package ${name}, which is not installed: npm install ${name}.`,
    );
  }
}

async function ownOrBeside(root: Source, options: OpenOptions & SourceOptions): Promise<TokenizerFiles> {
  const beside = () => jsonFiles(root, 'tokenizer.json', options.signal);
  let own: TokenizerFiles | undefined;
  try {
    own = await fromGguf(root, options);
  } catch (error) {
    if (!(error instanceof EmbeddingError) || error.code !== 'unsupported') throw error;
    const files = await beside();
    if (files === undefined) throw error;
    return files;
  }
  return own ?? required(root, await beside());
}

const kMagic = 'GGUF';

/** Undefined where the file is no GGUF, or one without a vocabulary. */
async function fromGguf(
  root: Source,
  options: OpenOptions & SourceOptions,
): Promise<TokenizerFiles | undefined> {
  const { signal } = options;
  const head = await root.read(0, Math.min(kMagic.length, await root.size(signal)), { signal });
  if (new TextDecoder().decode(head) !== kMagic) return undefined;
  const opened = await openHeaders(root, options);
  const { core, opener, directory } = opened;
  const origin = opened.takeOrigin();
  try {
    const vocabulary = readGgufVocabulary(core, origin, new Map(directory.metadata));
    return vocabulary && tokenizerFiles(vocabulary);
  } finally {
    origin.delete();
    opener.delete();
  }
}

function required(root: Source, files: TokenizerFiles | undefined): TokenizerFiles {
  if (files !== undefined) return files;
  throw new EmbeddingError(
    'not-found',
    root.name.endsWith('.json')
      ? `There is no ${root.label}.`
      : `${root.name} carries no vocabulary, and there is no tokenizer.json beside it: name one, or give ids.`,
  );
}

async function jsonFiles(
  root: Source,
  name: string,
  signal?: AbortSignal,
): Promise<TokenizerFiles | undefined> {
  const json = await readJson(root, name, signal);
  if (json === undefined) return undefined;
  const config = name.replace(/tokenizer\.json$/, 'tokenizer_config.json');
  return { json, config: config === name ? {} : ((await readJson(root, config, signal)) ?? {}) };
}

/** Undefined where there is no such file beside `root`. */
async function readJson(root: Source, name: string, signal?: AbortSignal): Promise<object | undefined> {
  const file = name === root.name ? root : root.sibling(name);
  try {
    const bytes = await file.read(0, await file.size(signal), { signal });
    return parseJson(new TextDecoder().decode(bytes), name) as object;
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  } finally {
    if (file !== root) await file.close?.();
  }
}
