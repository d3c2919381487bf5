// Text to ids from the vocabulary inside of a GGUF file. Expected ids are those that llama.cpp publishes for its own tests
// (models/ggml-vocab-*.gguf.out); the vocabularies are excerpts of the published ones (scripts/fixtures/tokenizers.mjs), or
// whole where the corpus has them.
import * as library from '@huggingface/tokenizers';
import { EmbeddingError, openTokenizer, readTokenizer } from 'id2vec';
import { describe, expect, test } from 'vitest';
import { corpusFile, corpusPath, hasCorpus, projectFile } from './corpus.js';
import { gguf } from './files/gguf.js';
import type { Metadata } from './files/gguf.js';

interface Case {
  text: string;
  spm: number[];
  bpe: number[];
  bert: number[];
}
interface Excerpt {
  size: number;
  pieces: [id: number, piece: string][];
  merges?: string[];
}

const plain = { specialTokens: false };
const [kNormal, kUnknown, kControl, kUserDefined, kUnused, kByte] = [1, 2, 3, 4, 5, 6] as const;
const kFirstScored = 259; // of LLaMA's pieces

async function fixture<T>(name: string): Promise<T> {
  return JSON.parse(new TextDecoder().decode(await projectFile(`tests/js/fixtures/${name}.json`))) as T;
}
const cases = await fixture<Case[]>('tokenizer-cases');
const excerpts = await fixture<Record<'llama-spm' | 'llama-bpe', Excerpt>>('tokenizer-vocabularies');

const tokenizer = (metadata: Metadata) =>
  openTokenizer(gguf([], { 'general.architecture': 'llama', ...metadata }), { library });

function wholeList({ size, pieces }: Excerpt): { tokens: string[]; types: Int32Array } {
  const tokens = new Array<string>(size).fill('');
  const types = new Int32Array(size).fill(kUnused);
  for (const [id, piece] of pieces) {
    tokens[id] = piece;
    types[id] = kNormal;
  }
  return { tokens, types };
}

/** LLaMA 2's: every piece has the score −(id − 259), but runs of spaces are joined after everything else. */
function llamaSpm(more: Metadata = {}): Metadata {
  const { tokens, types } = wholeList(excerpts['llama-spm']);
  types.set([kUnknown, kControl, kControl]);
  types.fill(kByte, 3, kFirstScored);
  return {
    'tokenizer.ggml.model': 'llama',
    'tokenizer.ggml.tokens': tokens,
    'tokenizer.ggml.scores': Float32Array.from(tokens, (piece, id) =>
      /^▁▁+$/.test(piece) ? -1e9 : Math.min(0, kFirstScored - id),
    ),
    'tokenizer.ggml.token_type': types,
    'tokenizer.ggml.bos_token_id': 1,
    'tokenizer.ggml.eos_token_id': 2,
    'tokenizer.ggml.unknown_token_id': 0,
    ...more,
  };
}

function llamaBpe(more: Metadata = {}): Metadata {
  const { tokens, types } = wholeList(excerpts['llama-bpe']);
  tokens[128000] = '<|begin_of_text|>';
  types[128000] = kControl;
  return {
    'tokenizer.ggml.model': 'gpt2',
    'tokenizer.ggml.pre': 'llama-bpe',
    'tokenizer.ggml.tokens': tokens,
    'tokenizer.ggml.token_type': types,
    'tokenizer.ggml.merges': excerpts['llama-bpe'].merges!,
    'tokenizer.ggml.bos_token_id': 128000,
    ...more,
  };
}

describe('ids are those that llama.cpp publishes', () => {
  test('LLaMA 2: SentencePiece BPE by scores, bytes for what is no piece', async () => {
    const { encode } = await open(llamaSpm());
    for (const { text, spm } of cases) expect([text, encode(text)]).toEqual([text, spm]);
  });

  test('LLaMA 3: byte-level BPE, digits in threes', async () => {
    const { encode } = await open(llamaBpe());
    for (const { text, bpe } of cases) expect([text, encode(text)]).toEqual([text, bpe]);
  });

  async function open(metadata: Metadata) {
    const opened = await tokenizer(metadata);
    return { encode: (text: string) => opened.encode(text, plain) };
  }

  test.skipIf(!hasCorpus)('BERT: WordPiece', async () => {
    const bert = await openTokenizer(corpusPath('gguf/ggml-vocab-bert-bge.gguf'), { library });
    expect(bert.size).toBe(30522);
    for (const { text, bert: ids } of cases) expect([text, bert.encode(text, plain)]).toEqual([text, ids]);
    expect(bert.encode('Hello world')).toEqual([101, 7592, 2088, 102]);
    expect(bert.decode([101, 7592, 2088, 102], plain)).toBe('hello world');
  });

  test.skipIf(!hasCorpus)('GPT-2: all texts of the corpus', async () => {
    const lines = async (end: string) =>
      new TextDecoder().decode(await corpusFile(`gguf/ggml-vocab-gpt-2.gguf.${end}`));
    const texts = (await lines('inp')).split('\n__ggml_vocab_test__\n');
    const ids = (await lines('out')).split('\n').map((line) => (line.match(/\d+/g) ?? []).map(Number));
    const gpt2 = await openTokenizer(corpusPath('gguf/ggml-vocab-gpt-2.gguf'), { library });
    expect(texts.length).toBeGreaterThan(40);
    texts.forEach((text, i) => {
      expect([text, gpt2.encode(text, plain)]).toEqual([text, ids[i]]);
      if (text !== '') expect(gpt2.decode(ids[i]!)).toBe(text);
    });
  });
});

describe('special tokens', () => {
  test('BOS and EOS are added as the file says, else as the kind of tokenizer does', async () => {
    const hello = 15043;
    const ids = async (more: Metadata) => (await tokenizer(llamaSpm(more))).encode('Hello');
    expect(await ids({})).toEqual([1, hello]);
    expect(await ids({ 'tokenizer.ggml.add_bos_token': false })).toEqual([hello]);
    expect(await ids({ 'tokenizer.ggml.add_eos_token': true })).toEqual([1, hello, 2]);
    expect((await tokenizer(llamaBpe())).encode('Hello')).toEqual([128000, 9906]);
  });

  test('control tokens in a text are one id, and can be left out of what is read back', async () => {
    const spm = await tokenizer(llamaSpm());
    expect(spm.encode('Hello</s> world', plain)).toEqual([15043, 2, 29871, 3186]);
    expect(spm.decode([1, 15043, 3186])).toContain('<s>');
    expect(spm.decode([1, 15043, 3186], plain)).toBe('Hello world');
    expect(spm.decode([])).toBe('');
  });

  test('user-defined pieces come before merges; stored with ▁, they mean spaces', async () => {
    const spm = llamaSpm();
    (spm['tokenizer.ggml.tokens'] as string[])[400] = '▁▁world';
    (spm['tokenizer.ggml.token_type'] as Int32Array)[400] = kUserDefined;
    expect((await tokenizer(spm)).encode('Hello  world', plain)).toEqual([15043, 400]);
  });
});

describe('what a file says about spaces and case', () => {
  test('add_space_prefix', async () => {
    const spm = await tokenizer(llamaSpm({ 'tokenizer.ggml.add_space_prefix': false }));
    // "Hello" is a piece of its own, ▁Hello is 15043.
    expect(spm.encode(' Hello', plain)).toEqual([15043]);
    expect(spm.encode('Hello', plain)).not.toEqual([15043]);
  });

  test('remove_extra_whitespaces', async () => {
    const spm = await tokenizer(llamaSpm({ 'tokenizer.ggml.remove_extra_whitespaces': true }));
    expect(spm.encode('  Hello   world ', plain)).toEqual([15043, 3186]);
  });

  const words = {
    'tokenizer.ggml.model': 'bert',
    'tokenizer.ggml.tokens': ['[UNK]', '[CLS]', '[SEP]', '▁Hi', '▁hi', 's', '▁é', '▁e', '__proto__'],
    'tokenizer.ggml.token_type': Int32Array.of(2, 3, 3, 1, 1, 1, 1, 1, 1),
    'tokenizer.ggml.unknown_token_id': 0,
    'tokenizer.ggml.cls_token_id': 1,
    'tokenizer.ggml.seperator_token_id': 2,
  };
  test('WordPiece: the start of a word is marked in the file, the rest in the library', async () => {
    const bert = await tokenizer(words);
    expect(bert.encode('His é x')).toEqual([1, 4, 5, 7, 0, 2]);
    expect(bert.size).toBe(9);
    const cased = await tokenizer({ ...words, 'tokenizer.ggml.normalizer.lowercase': false });
    expect(cased.encode('His é', plain)).toEqual([3, 5, 6]);
  });
});

describe('Unigram', () => {
  const pieces = ['<pad>', '</s>', '<unk>', '▁', 'a', 'b', 'ab', '▁ab', '▁a', 'ﬁ', 'fi'];
  const scores = [0, 0, 0, -2, -3, -3, -4, -9, -4, -1, -1];
  const metadata = {
    'tokenizer.ggml.model': 't5',
    'tokenizer.ggml.tokens': pieces,
    'tokenizer.ggml.scores': Float32Array.from(scores),
    'tokenizer.ggml.token_type': Int32Array.from(pieces, (_, id) => (id === 2 ? 2 : id < 2 ? 3 : 1)),
    'tokenizer.ggml.eos_token_id': 1,
    'tokenizer.ggml.unknown_token_id': 2,
  };

  test('takes the split with the greatest sum of scores, worked by hand', async () => {
    const { encode } = await openBound(metadata);
    // ▁ab −9; ▁a b −7; ▁ a b −8; ▁ ab −6
    expect(encode('ab')).toEqual([3, 6, 1]);
    expect(encode('a')).toEqual([8, 1]);
    expect(encode(' a  ')).toEqual([8, 1]);
    expect(encode('zz')).toEqual([3, 2, 1]);
  });

  test('normalizes where the file has rules for it', async () => {
    expect((await openBound(metadata)).encode('ﬁ')).toEqual([3, 9, 1]);
    const rules = { ...metadata, 'tokenizer.ggml.precompiled_charsmap': new Uint8Array(300) };
    expect((await openBound(rules)).encode('ﬁ')).toEqual([3, 10, 1]);
  });

  test('needs scores', async () => {
    const entries = Object.entries(metadata).filter(([key]) => key !== 'tokenizer.ggml.scores');
    await expect(tokenizer(Object.fromEntries(entries))).rejects.toThrow(/no scores/);
  });

  async function openBound(given: Metadata) {
    const opened = await tokenizer(given);
    return { encode: (text: string) => opened.encode(text) };
  }
});

describe('rules that cut words', () => {
  // GPT-2's printable character of each byte.
  let next = 256;
  const characters = Array.from({ length: 256 }, (_, byte) => {
    const printable = (byte > 32 && byte < 127) || (byte > 160 && byte !== 173);
    return String.fromCharCode(printable ? byte : next++);
  });
  const bytes = (pre: string, merges: string[] = []): Metadata => ({
    'tokenizer.ggml.model': 'gpt2',
    'tokenizer.ggml.pre': pre,
    'tokenizer.ggml.tokens': [...characters, ...merges.map((merge) => merge.replace(' ', ''))],
    'tokenizer.ggml.merges': merges,
  });

  test('lose nothing, whichever they are', async () => {
    const message = await tokenizer(bytes('no such rules')).catch(
      (error: unknown) => (error as Error).message,
    );
    const names = /known are (.*?)\. /.exec(message as string)![1]!.split(', ');
    expect(names.length).toBeGreaterThan(50);
    const text = "I'Ve 1234567 naïve  words,\n\n\t中文 किताब ひらがな 😁… x86-64 (¿qué?) don't\r\n end ";
    const expected = [...new TextEncoder().encode(text)];
    for (const name of names) {
      expect([name, (await tokenizer(bytes(name))).encode(text, plain)]).toEqual([name, expected]);
    }
  });

  const [kOne, kTwo, kQuote, kS, kJoined] = [49, 50, 39, 83, 256] as const;
  test.each([
    ['gpt-2', [kJoined], [kQuote, kS]],
    ['llama-bpe', [kJoined], [kJoined]],
    ['qwen2', [kOne, kTwo], [kJoined]],
    ['starcoder', [kOne, kTwo], [kQuote, kS]],
    ['deepseek-v3', [kJoined], [kJoined]],
    ['tekken', [kOne, kTwo], [kJoined]],
    ['gpt-4o', [kJoined], [kJoined]],
  ] as const)('%s: digits and contractions', async (pre, digits, contraction) => {
    const ids = async (merge: string, text: string) =>
      (await tokenizer(bytes(pre, [merge]))).encode(text, plain).filter((id) => id !== 0x61);
    expect(await ids('1 2', '12')).toEqual(digits);
    expect(await ids("' S", "a'S")).toEqual(contraction);
  });
});

describe('what cannot be used is named', () => {
  const named = (metadata: Metadata) =>
    tokenizer({ 'tokenizer.ggml.tokens': ['a'], ...metadata }).catch(
      (error: unknown) => error as EmbeddingError,
    );

  test.each([
    [{ 'tokenizer.ggml.model': 'rwkv' }, 'unsupported', /"rwkv".*gpt2, llama, t5, bert.*tokenizer\.json/],
    [{ 'tokenizer.ggml.model': 'toString' }, 'unsupported', /"toString"/],
    [{}, 'unsupported', /does not say/],
    [
      { 'tokenizer.ggml.model': 'gpt2', 'tokenizer.ggml.pre': 'kimi-k2' },
      'unsupported',
      /"kimi-k2".*llama-bpe/,
    ],
    [{ 'tokenizer.ggml.tokens': [] }, 'not-found', /no vocabulary.*tokenizer\.json/],
  ] as [Metadata, string, RegExp][])('%j', async (metadata, code, message) => {
    const error = await named(metadata);
    expect(error).toBeInstanceOf(EmbeddingError);
    expect(error).toMatchObject({ code, message: expect.stringMatching(message) as string });
  });
});

describe('a tokenizer.json beside the model', () => {
  const json = {
    added_tokens: [],
    normalizer: null,
    pre_tokenizer: { type: 'WhitespaceSplit' },
    post_processor: null,
    decoder: null,
    model: { type: 'WordPiece', vocab: { x: 0, hello: 1 }, unk_token: 'x' },
  };
  const beside = (own: Uint8Array<ArrayBuffer>) => ({
    name: 'model.bin',
    byteLength: own.length,
    slice: (start: number, end: number) => own.slice(start, end),
    sibling: (name: string) =>
      name === 'tokenizer.json' ? new TextEncoder().encode(JSON.stringify(json)) : undefined,
  });

  test('is used where the model is no GGUF, and where its own vocabulary is of no known kind', async () => {
    const unknown = gguf([], { 'tokenizer.ggml.model': 'rwkv', 'tokenizer.ggml.tokens': ['a'] });
    for (const own of [new Uint8Array(100), new Uint8Array(0), unknown]) {
      const opened = await openTokenizer(beside(own), { library });
      expect(opened.encode('hello')).toEqual([1]);
      expect(opened.size).toBe(2);
    }
  });

  test('what the library would be given can be had without it', async () => {
    expect(await readTokenizer(beside(new Uint8Array(8)))).toEqual({ json, config: {} });
    const { json: own } = (await readTokenizer(gguf([], llamaSpm()))) as {
      json: { model: { type: string } };
    };
    expect(own.model.type).toBe('BPE');
  });
});
