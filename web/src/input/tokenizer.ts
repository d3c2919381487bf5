// Text to ids through a tokenizer.json. Its library is loaded when the first such file comes.

export interface TextTokenizer {
  /** The file it came from. */
  name: string;
  encode(text: string): number[];
  decode(ids: number[]): string;
  pieceOf(id: number): string | undefined;
  idOf(piece: string): number | undefined;
}

/** @throws {Error} in one sentence, where this is no tokenizer.json that the library knows */
export async function readTokenizer(name: string, json: string, config = '{}'): Promise<TextTokenizer> {
  const { Tokenizer } = await import('@huggingface/tokenizers');
  try {
    const inner = new Tokenizer(JSON.parse(json) as object, JSON.parse(config) as object);
    return {
      name,
      // BOS, [CLS] and the like are left out: the picture is about the words.
      encode: (text) => inner.encode(text, { add_special_tokens: false }).ids,
      decode: (ids) => inner.decode(ids),
      pieceOf: (id) => inner.id_to_token(id),
      idOf: (piece) => inner.token_to_id(piece),
    };
  } catch (error) {
    throw new Error(`${name} is no tokenizer that can be read: ${(error as Error).message}`, {
      cause: error,
    });
  }
}
