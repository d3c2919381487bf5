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
/** The largest tokenizers have some 10⁶ pieces; an id beyond is a mistake and no reason for a huge array. */
const kLargestId = 1 << 24;

interface TokenizerJson {
  model?: { type?: string; vocab?: Record<string, number> | [string, number][] };
  added_tokens?: { id: number; content: string; special?: boolean }[];
}

/** @throws {EmbeddingError} `malformed` or `unsupported`, where this is no tokenizer.json of a known kind */
export function readTokenizerJson(text: string): VocabularyData {
  const { model, added_tokens: added = [] } = parse(text);
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
  for (const [piece, id] of [...entries, ...added.map((t): [string, number] => [t.content, t.id])]) {
    if (!Number.isInteger(id) || id < 0 || id > kLargestId) {
      throw new EmbeddingError('malformed', `tokenizer.json gives the piece "${piece}" the id ${id}.`);
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

function parse(text: string): TokenizerJson {
  try {
    return JSON.parse(text) as TokenizerJson;
  } catch (error) {
    throw new EmbeddingError('malformed', `tokenizer.json is no JSON: ${(error as Error).message}`);
  }
}
