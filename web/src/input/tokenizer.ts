// Text to ids: by the vocabulary inside of a model file, or by a tokenizer.json. The library that does it is loaded when
// it is needed first.
import { readTokenizer } from 'id2vec';
import type { SourceLike } from 'id2vec';

export interface TextTokenizer {
  /** Where it comes from, as a person would say it. */
  name: string;
  encode(text: string): number[];
  decode(ids: number[]): string;
  pieceOf(id: number): string | undefined;
  idOf(piece: string): number | undefined;
}

interface TokenizerOptions {
  /** Which of several files it is read from. */
  root?: string;
  signal?: AbortSignal;
}

/** @throws {Error} in one sentence, where there is no tokenizer that the library knows */
export async function openTokenizer(
  name: string,
  source: SourceLike,
  options: TokenizerOptions = {},
): Promise<TextTokenizer> {
  const [{ Tokenizer }, { json, config }] = await Promise.all([
    import('@huggingface/tokenizers'),
    readTokenizer(source, options),
  ]);
  try {
    const inner = new Tokenizer(json, config);
    return {
      name,
      // BOS, [CLS] and the like are left out: the picture is about the words.
      encode: (text) => inner.encode(text, { add_special_tokens: false }).ids,
      decode: (ids) => (ids.length === 0 ? '' : inner.decode(ids)),
      pieceOf: (id) => inner.id_to_token(id),
      idOf: (piece) => inner.token_to_id(piece),
    };
  } catch (error) {
    throw new Error(`${name} is no tokenizer that can be read: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

/** The tokenizer that a model file carries itself; undefined where it carries none that the library knows. */
export async function ownTokenizer(
  source: SourceLike,
  signal: AbortSignal,
): Promise<TextTokenizer | undefined> {
  return openTokenizer('the vocabulary of the file', source, { signal }).catch(() => undefined);
}
