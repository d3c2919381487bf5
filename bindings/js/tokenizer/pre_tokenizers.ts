/**
 * How the words of a byte-level BPE vocabulary are cut out of a text, by the name that GGUF files give in
 * `tokenizer.ggml.pre`: each expression in turn isolates its matches in what the ones before it left.
 *
 * Names and which expressions belong to them: ggml-org/llama.cpp, src/llama-vocab.cpp (`tokenizer_pre`,
 * `llm_tokenizer_bpe`). The expressions themselves are those of the models' own tokenizer.json, where llama.cpp quotes
 * them beside its adapted form.
 */
export interface PreTokenizer {
  splits: readonly string[];
  /** A word that is a piece as a whole is not put together by merges. */
  ignoreMerges?: boolean;
  /** Text begins with BOS where the file does not say otherwise. */
  addBos?: boolean;
  /** Unicode normal form C first. */
  nfc?: boolean;
}

const kContractions = "(?i:'s|'t|'re|'ve|'m|'ll|'d)";
const kSpaces = '\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+';
/** cl100k and its relatives: words with one leading sign, runs of up to `digits` digits, runs of other signs. */
const words = (digits: string, letters = '\\p{L}', others = '\\s\\p{L}\\p{N}'): string =>
  `${kContractions}|[^\\r\\n\\p{L}\\p{N}]?${letters}+|\\p{N}${digits}| ?[^${others}]+[\\r\\n]*|${kSpaces}`;
/** o200k and its relatives: a word ends where small letters are followed by a capital. */
const casedWords = (digits: string, suffix: string): string => {
  const [upper, lower] = ['[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]', '[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]'];
  const lead = '[^\\r\\n\\p{L}\\p{N}]?';
  const cased = `${lead}${upper}*${lower}+${suffix}|${lead}${upper}+${lower}*${suffix}`;
  return `${cased}|\\p{N}${digits}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|${kSpaces}`;
};
const kGpt2 = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";
const kBloom = ' ?[^(\\s|.,!?…。，、।۔،)]+';
const kDeepseekWords =
  '[!"#$%&\'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+' +
  `| ?[\\p{P}\\p{S}]+[\\r\\n]*|${kSpaces}`;

const kTable: readonly (PreTokenizer & { names: string })[] = [
  {
    names:
      'gpt-2 phi-2 jina-es jina-de gigachat jina-v2-es jina-v2-de a.x-4.0 mellum modern-bert exaone4 mpt olmo jais trillion granite-docling jina-v1-en jina-v2-code roberta-bpe',
    splits: [kGpt2],
  },
  {
    names: 'llama3 llama-v3 llama-bpe falcon3 falcon-h1 pixtral midm-2.0 lfm2 jina-v5-nano',
    splits: [words('{1,3}')],
    ignoreMerges: true,
    addBos: true,
  },
  { names: 'dbrx smaug-bpe glm4 chatglm-bpe', splits: [words('{1,3}')] },
  { names: 'qwen2 deepseek-r1-qwen kormo f2llmv2 megrez', splits: [words('')], nfc: true },
  { names: 'stablelm2 hunyuan solar-open grok-2', splits: [words('')] },
  { names: 'qwen35', splits: [words('', '[\\p{L}\\p{M}]', '\\s\\p{L}\\p{M}\\p{N}')], nfc: true },
  { names: 'minicpm5', splits: ['\\p{N}{1,3}', words('+')], ignoreMerges: true },
  {
    names: 'starcoder refact command-r smollm codeshell exaone minerva-7b mellum2',
    splits: ['\\p{N}', kGpt2],
  },
  { names: 'falcon', splits: ['[\\p{P}\\$\\+<=>\\^~\\|`]+', kGpt2, '[0-9][0-9][0-9]'] },
  {
    names: 'deepseek-v3 hunyuan-dense joyai-llm hy_v4',
    splits: ['\\p{N}{1,3}', '[一-龥\\u3040-ゟ゠-ヿ]+', kDeepseekWords],
  },
  { names: 'gpt-4o llama4 kanana2 talkie minimax-m2', splits: [casedWords('{1,3}', `${kContractions}?`)] },
  { names: 'tekken', splits: [casedWords('', '')], ignoreMerges: true, addBos: true },
  {
    names: 'tiny_aya cohere2moe',
    splits: ['\\d{1,3}(?=(?:\\d{3})*\\b)', casedWords('{1,3}', `${kContractions}?`)],
  },
  { names: 'bloom poro-chat gpt3-finnish', splits: [kBloom] },
  { names: 'viking', splits: [kBloom, '\\p{N}'] },
  {
    names: 'bailingmoe bailingmoe2 llada-moe',
    splits: [
      "'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*" +
        '|\\s*[\\r\\n]|\\s+(?!\\S)|\\s+',
    ],
  },
  {
    names: 'seed-coder',
    splits: [`${kContractions}|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}\\r\\n]+|${kSpaces}`],
  },
  {
    names: 'default',
    splits: ['[\\p{P}\\$\\+<=>\\^~\\|]+', kGpt2, '\\p{N}+', '[0-9][0-9][0-9]'],
  },
];

/** Undefined for a name that is not known here. */
export function preTokenizer(name: string): PreTokenizer | undefined {
  return kTable.find(({ names }) => names.split(' ').includes(name));
}

/** Every name, for messages and tests. */
export function preTokenizerNames(): string[] {
  return kTable.flatMap(({ names }) => names.split(' '));
}
