/**
 * The vocabulary of a tokenizer.json, as far as a table needs it: which piece belongs to which row.
 *
 *   { model: { type: "BPE" | "WordPiece" | "WordLevel", vocab: { piece: id } }
 *          | { type: "Unigram", vocab: [[piece, score], …] },        the index is the id
 *     added_tokens: [{ id, content, special }] }
 */
import { EmbeddingError } from './errors.js';

export interface VocabularyData {
  /** Name of the algorithm as GGUF has it: `gpt2`, `bert`, `t5`, `word-level`. */
  model: string;
  /** By id; an id that the tokenizer skips is an empty piece. */
  pieces: string[];
  /** Log probabilities of a Unigram model. */
  scores?: number[];
  /** 1: normal, 3: control (special), 5: unused; as in `tokenizer.ggml.token_type`. */
  types: number[];
}

const kGgufNames: Record<string, string> = {
  BPE: 'gpt2',
  WordPiece: 'bert',
  WordLevel: 'word-level',
  Unigram: 't5',
};
const kNormal = 1;
const kControl = 3;
const kUnused = 5;
/**
 * Ids may leave gaps (tables are padded, special tokens stand at their end), but an id far beyond the number of pieces is
 * a mistake, and no reason for an array that the file does not justify.
 */
const kLargestGap = 1 << 16;

interface TokenizerJson {
  model?: { type?: string; vocab?: Record<string, number> | [string, number][] };
  added_tokens?: { id: number; content: string; special?: boolean }[];
}

/** @throws {EmbeddingError} `malformed` or `unsupported`, where this is no tokenizer.json of a known kind */
export function readTokenizerJson(text: string): VocabularyData {
  const json = parseJson(text, 'tokenizer.json') as TokenizerJson;
  try {
    return readVocabulary(json);
  } catch (error) {
    // Lists where maps should be, null in place of an object, …
    if (error instanceof EmbeddingError) throw error;
    throw new EmbeddingError('malformed', "tokenizer.json is JSON, but not laid out as a tokenizer's.", {
      cause: error,
    });
  }
}

function readVocabulary({ model, added_tokens: added = [] }: TokenizerJson): VocabularyData {
  const type = model?.type ?? (model?.vocab === undefined ? '' : 'BPE');
  const name = kGgufNames[type];
  if (model?.vocab === undefined || name === undefined) {
    throw new EmbeddingError(
      'unsupported',
      `tokenizer.json has a model of type "${type}"; known are ${Object.keys(kGgufNames).join(', ')}.`,
    );
  }
  const list = Array.isArray(model.vocab);
  const entries = Array.isArray(model.vocab)
    ? model.vocab.map(([piece], id): [string, number] => [piece, id])
    : Object.entries(model.vocab);
  const special = new Set(added.filter((token) => token.special === true).map((token) => token.id));
  const pieces = new Map<number, string>();
  const all = [...entries, ...added.map((t): [string, number] => [t.content, t.id])];
  for (const [piece, id] of all) {
    const sensible = Number.isInteger(id) && id >= 0 && id <= all.length + kLargestGap;
    if (typeof piece !== 'string' || !sensible) {
      throw new EmbeddingError(
        'malformed',
        `tokenizer.json gives the piece ${JSON.stringify(piece)} the id ${JSON.stringify(id)}, of ${all.length} pieces.`,
      );
    }
    pieces.set(id, piece);
  }
  const count = [...pieces.keys()].reduce((most, id) => Math.max(most, id + 1), 0);
  const ids = Array.from({ length: count }, (_, id) => id);
  const vocabulary: VocabularyData = {
    model: name,
    pieces: ids.map((id) => pieces.get(id) ?? ''),
    types: ids.map((id) => (special.has(id) ? kControl : pieces.has(id) ? kNormal : kUnused)),
  };
  if (list) vocabulary.scores = ids.map((id) => (model.vocab as [string, number][])[id]?.[1] ?? 0);
  return vocabulary;
}

/** @throws {EmbeddingError} `malformed`, in one line: the engine's own message may quote the text, line breaks and all */
export function parseJson(text: string, label: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    const reason = (error as Error).message.replace(/\s+/g, ' ');
    throw new EmbeddingError('malformed', `${label} is no JSON: ${reason}`);
  }
}
