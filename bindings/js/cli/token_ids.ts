/** Ids from the command line: numbers, pieces of the file's vocabulary, or text through a tokenizer. */
import type { EmbeddingModel } from '../model.js';
import type { Arguments, Option } from './command.js';
import { parseIds, UsageError } from './command.js';
import { openTokenizer } from '../tokenizer/tokenizer.js';

/** Options of commands that take ids. */
export const textOptions: Record<string, Option> = {
  text: { kind: 'value', value: 'TEXT', help: 'text instead of ids; needs a tokenizer (see --tokenizer)' },
  tokenizer: {
    kind: 'value',
    value: 'FILE',
    help: 'tokenizer.json or GGUF file for --text (default: SOURCE itself, or the tokenizer.json beside it)',
  },
  'no-special-tokens': { kind: 'flag', help: 'do not let the tokenizer add BOS, EOS, [CLS], [SEP]' },
};

/** What a command is asked to work on: the ids after SOURCE, or --text. */
export function idsFrom(args: Arguments): (model: EmbeddingModel, source: string) => Promise<number[]> {
  const text = args.value('text');
  const words = args.positionals.slice(1);
  if (text === undefined) {
    const ids = parseIds(words);
    return async () => ids;
  }
  if (words.length > 0) throw new UsageError(`give either ids or --text, not "${words[0]}" and a text`);
  return async (_model, source) => {
    const tokenizer = await openTokenizer(args.value('tokenizer') ?? source);
    return tokenizer.encode(text, { specialTokens: !args.has('no-special-tokens') });
  };
}

/** One word as an id: a number, or a piece of the vocabulary that the file carries. */
export function idOf(word: string, model: EmbeddingModel): number {
  if (/^\d+$/.test(word)) return Number(word);
  if (model.tokens === undefined) {
    throw new UsageError(`"${word}" is no id, and the file carries no vocabulary to look it up in`);
  }
  // SentencePiece and byte-level vocabularies mark the beginning of a word.
  for (const piece of [word, `▁${word}`, `Ġ${word}`]) {
    const id = model.tokens.idOf(piece);
    if (id !== undefined) return id;
  }
  throw new UsageError(`"${word}" is no piece of the vocabulary of ${model.tokens.length} pieces`);
}
