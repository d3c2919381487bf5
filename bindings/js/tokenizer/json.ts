/**
 * The tokenizer of a GGUF file in the shape of a tokenizer.json, which tokenizer libraries read.
 *
 *   gpt2    byte-level BPE: words by regular expressions, bytes as printable characters, merges by rank
 *   llama   SentencePiece BPE: the best-scored pair of neighbours is joined, bytes stand for what is no piece
 *   t5      SentencePiece Unigram: the split with the greatest sum of scores
 *   bert    WordPiece: longest match first. GGUF marks the start of a word (▁the), tokenizer.json its middle (##ing)
 *
 * What a file leaves out is as in ggml-org/llama.cpp, src/llama-vocab.cpp (`llama_vocab::impl::load`).
 */
import { EmbeddingError } from '../errors.js';
import { preTokenizer, preTokenizerNames } from './pre_tokenizers.js';
import { PieceType } from './vocabulary.js';
import type { GgufVocabulary } from './vocabulary.js';

/** What `new Tokenizer(json, config)` of `@huggingface/tokenizers` takes. */
export interface TokenizerFiles {
  json: object;
  config: object;
}

interface AddedToken {
  id: number;
  content: string;
  special: boolean;
  normalized: false;
}

/** The part in which the kinds differ. */
interface Kind {
  model: object;
  normalizer: object | null;
  pre_tokenizer: object | null;
  decoder: object;
  /** Ids that stand before and after a text. */
  before: (number | undefined)[];
  after: (number | undefined)[];
  /** Of a user-defined piece, as it stands in text. */
  contentOf?: (piece: string) => string;
}

const kKinds: Record<string, (vocabulary: GgufVocabulary) => Kind> = {
  gpt2: byteLevelBpe,
  llama: sentencePieceBpe,
  t5: sentencePieceUnigram,
  bert: wordPiece,
};
/** SentencePiece's mark for a space. */
const kSpace = '▁';

/** @throws {EmbeddingError} `unsupported`, naming the kind, where it is none of the four or its words are unknown */
export function tokenizerFiles(vocabulary: GgufVocabulary): TokenizerFiles {
  const make = kKinds[vocabulary.model];
  if (make === undefined || !Object.hasOwn(kKinds, vocabulary.model)) {
    throw new EmbeddingError(
      'unsupported',
      (vocabulary.model === ''
        ? 'The file does not say what kind of tokenizer its vocabulary is for'
        : `The file's tokenizer is of the kind "${vocabulary.model}"`) +
        `; known are ${Object.keys(kKinds).join(', ')}. ` +
        "Use the model's tokenizer.json, or give ids.",
    );
  }
  const { contentOf = (piece: string) => piece, before, after, ...kind } = make(vocabulary);
  const added = addedTokens(vocabulary, contentOf);
  const json = {
    version: '1.0',
    added_tokens: added,
    ...kind,
    post_processor: template(vocabulary, before, after),
  };
  const special = (name: string) => {
    const id = vocabulary.id(name);
    return id === undefined ? {} : { [`${name === 'unknown' ? 'unk' : name}_token`]: vocabulary.pieces[id] };
  };
  const config = { ...special('bos'), ...special('eos'), ...special('unknown') };
  return { json, config: { ...config, clean_up_tokenization_spaces: false } };
}

function byteLevelBpe(vocabulary: GgufVocabulary): Kind {
  const name = vocabulary.pre === '' ? 'default' : vocabulary.pre;
  const pre = preTokenizer(name);
  if (pre === undefined) {
    throw new EmbeddingError(
      'unsupported',
      `The file's tokenizer cuts words by the rules "${name}"; known are ${preTokenizerNames().join(', ')}. ` +
        "Use the model's tokenizer.json, or give ids.",
    );
  }
  const splits = pre.splits.map((pattern) => ({
    type: 'Split',
    pattern: { Regex: pattern },
    behavior: 'Isolated',
    invert: false,
  }));
  const bytes = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: false };
  return {
    model: {
      type: 'BPE',
      vocab: idsByPiece(vocabulary.pieces),
      merges: vocabulary.merges.map(bothSides),
      ignore_merges: pre.ignoreMerges ?? false,
    },
    normalizer: pre.nfc ? { type: 'NFC' } : null,
    pre_tokenizer: { type: 'Sequence', pretokenizers: [...splits, bytes] },
    decoder: { type: 'ByteLevel' },
    ...bosAndEos(vocabulary, { addBos: pre.addBos ?? false, addEos: false }),
  };
}

function sentencePieceBpe(vocabulary: GgufVocabulary): Kind {
  const { pieces, types } = vocabulary;
  const unknown = pieces[vocabulary.id('unknown') ?? 0]!;
  const spaces = { type: 'Replace', pattern: { String: ' ' }, content: kSpace };
  const prefixed = vocabulary.flag('add_space_prefix', true);
  const prefix = prefixed ? [{ type: 'Prepend', prepend: kSpace }] : [];
  return {
    model: {
      type: 'BPE',
      vocab: idsByPiece(pieces),
      merges: mergesByScore(vocabulary),
      unk_token: unknown,
      fuse_unk: true,
      byte_fallback: types?.includes(PieceType.byte) ?? pieces.includes('<0x00>'),
    },
    normalizer: {
      type: 'Sequence',
      normalizers: [...squeezed(vocabulary, false), ...prefix, spaces],
    },
    pre_tokenizer: null,
    decoder: {
      type: 'Sequence',
      decoders: [
        { type: 'Replace', pattern: { String: kSpace }, content: ' ' },
        { type: 'ByteFallback' },
        { type: 'Fuse' },
        ...(prefixed ? [{ type: 'Strip', content: ' ', start: 1, stop: 0 }] : []),
      ],
    },
    contentOf: (piece) => piece.replaceAll(kSpace, ' '),
    ...bosAndEos(vocabulary, { addBos: true, addEos: false, bos: 1, eos: 2 }),
  };
}

function sentencePieceUnigram(vocabulary: GgufVocabulary): Kind {
  const { pieces, scores, charsmap } = vocabulary;
  if (scores === undefined) {
    throw new EmbeddingError(
      'unsupported',
      'The file\'s tokenizer is of the kind "t5" and has no scores, without which no text can be split. ' +
        "Use the model's tokenizer.json, or give ids.",
    );
  }
  const space = {
    type: 'Metaspace',
    replacement: kSpace,
    prepend_scheme: vocabulary.flag('add_space_prefix', true) ? 'always' : 'never',
  };
  const rules = charsmap ? [{ type: 'Precompiled', precompiled_charsmap: base64(charsmap) }] : [];
  return {
    model: {
      type: 'Unigram',
      unk_id: vocabulary.id('unknown') ?? Math.min(2, pieces.length - 1),
      vocab: pieces.map((piece, id) => [piece, scores[id]]),
    },
    normalizer: { type: 'Sequence', normalizers: [...rules, ...squeezed(vocabulary, true)] },
    pre_tokenizer: space,
    decoder: space,
    contentOf: (piece) => piece.replaceAll(kSpace, ' '),
    ...bosAndEos(vocabulary, { addBos: false, addEos: true }),
  };
}

function wordPiece(vocabulary: GgufVocabulary): Kind {
  const lowercase = vocabulary.flag('normalizer.lowercase', true);
  const { pieces, types } = vocabulary;
  const stored = pieces.map((piece, id) => {
    if (isAdded(types?.[id])) return piece;
    return piece.startsWith(kSpace) ? piece.slice(kSpace.length) : `##${piece}`;
  });
  const id = (name: string, other: string) => vocabulary.id(name) ?? vocabulary.id(other);
  return {
    model: {
      type: 'WordPiece',
      vocab: idsByPiece(stored),
      unk_token: pieces[vocabulary.id('unknown') ?? 100] ?? '[UNK]',
      continuing_subword_prefix: '##',
      max_input_chars_per_word: 100,
    },
    normalizer: {
      type: 'BertNormalizer',
      clean_text: true,
      handle_chinese_chars: true,
      strip_accents: vocabulary.flag('normalizer.strip_accents', lowercase),
      lowercase,
    },
    pre_tokenizer: { type: 'BertPreTokenizer' },
    decoder: { type: 'WordPiece', prefix: '##', cleanup: true },
    before: [vocabulary.flag('add_bos_token', true) ? id('cls', 'bos') : undefined],
    // The key is spelled like this.
    after: [vocabulary.flag('add_sep_token', true) ? id('seperator', 'eos') : undefined],
  };
}

// A piece of a vocabulary with holes in it may come twice; the first one counts. fromEntries makes "__proto__" a key
// like any other.
function idsByPiece(pieces: readonly string[]): Record<string, number> {
  const entries = pieces.map((piece, id): [string, number] => [piece, id]);
  return Object.fromEntries(entries.filter(([piece]) => piece !== '').reverse());
}

function bosAndEos(
  vocabulary: GgufVocabulary,
  fallback: { addBos: boolean; addEos: boolean; bos?: number; eos?: number },
): Pick<Kind, 'before' | 'after'> {
  const bos = vocabulary.id('bos') ?? fallback.bos;
  const eos = vocabulary.id('eos') ?? fallback.eos;
  return {
    before: [vocabulary.flag('add_bos_token', fallback.addBos) ? bos : undefined],
    after: [vocabulary.flag('add_eos_token', fallback.addEos) ? eos : undefined],
  };
}

/** `left right`: of the spaces, the first that is not at the start parts them. */
function bothSides(merge: string): [string, string] {
  const at = merge.indexOf(' ', 1);
  return [merge.slice(0, at), merge.slice(at + 1)];
}

/**
 * SentencePiece joins the pair whose union has the best score; a BPE model joins the pair of the lowest rank. So every
 * way to split a piece in two becomes a merge, ranked by the piece's score.
 */
function mergesByScore({ pieces, scores, types }: GgufVocabulary): [string, string][] {
  const joined = new Map<string, number>();
  pieces.forEach((piece, id) => {
    const type = types?.[id];
    if (piece === '' || isAdded(type) || type === PieceType.byte || joined.has(piece)) return;
    joined.set(piece, id);
  });
  const score = (id: number) => scores?.[id] ?? -id;
  return [...joined]
    .sort(([, a], [, b]) => score(b) - score(a))
    .flatMap(([piece]) => splitsOf(piece, joined));
}

function splitsOf(piece: string, known: ReadonlyMap<string, number>): [string, string][] {
  const splits: [string, string][] = [];
  for (let at = 1; at < piece.length; at++) {
    if (isLowSurrogate(piece.charCodeAt(at))) continue;
    const sides: [string, string] = [piece.slice(0, at), piece.slice(at)];
    if (known.has(sides[0]) && known.has(sides[1])) splits.push(sides);
  }
  return splits;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit < 0xe000;
}

function squeezed(vocabulary: GgufVocabulary, fallback: boolean): object[] {
  if (!vocabulary.flag('remove_extra_whitespaces', fallback)) return [];
  return [
    { type: 'Strip', strip_left: true, strip_right: true },
    { type: 'Replace', pattern: { Regex: ' {2,}' }, content: ' ' },
  ];
}

function isAdded(type: number | undefined): boolean {
  return type === PieceType.unknown || type === PieceType.control || type === PieceType.userDefined;
}

function addedTokens(
  { pieces, types, id }: GgufVocabulary,
  contentOf: (piece: string) => string,
): AddedToken[] {
  if (types === undefined) {
    const named = ['bos', 'eos', 'unknown', 'seperator', 'padding', 'cls', 'mask'].map((name) => id(name));
    const ids = [...new Set(named.filter((each) => each !== undefined))];
    return ids.map((each) => ({ id: each, content: pieces[each]!, special: true, normalized: false }));
  }
  return pieces.flatMap((piece, each): AddedToken[] => {
    if (piece === '' || !isAdded(types[each])) return [];
    const special = types[each] !== PieceType.userDefined;
    return [{ id: each, content: special ? piece : contentOf(piece), special, normalized: false }];
  });
}

function template({ pieces }: GgufVocabulary, before: Kind['before'], after: Kind['after']): object {
  const specials = (ids: Kind['before'], type_id: number) =>
    ids.flatMap((id) => (id === undefined ? [] : [{ SpecialToken: { id: pieces[id]!, type_id } }]));
  const single = [...specials(before, 0), { Sequence: { id: 'A', type_id: 0 } }, ...specials(after, 0)];
  const second = [{ Sequence: { id: 'B', type_id: 1 } }, ...specials(after, 1)];
  const used = [...before, ...after].filter((id) => id !== undefined);
  const special_tokens: Record<string, object> = Object.fromEntries(
    used.map((id): [string, object] => {
      const piece = pieces[id]!;
      return [piece, { id: piece, ids: [id], tokens: [piece] }];
    }),
  );
  return { type: 'TemplateProcessing', single, pair: [...single, ...second], special_tokens };
}

function base64(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
}
