/** What a GGUF file says about its tokenizer, taken out of the core's memory. */
import type { Core } from '../core.js';
import type { Handle } from '../handle.js';
import type { MetadataValue } from '../open.js';
import type { Vocabulary } from '../tokens.js';

/** Values of `tokenizer.ggml.token_type`. */
export const PieceType = { normal: 1, unknown: 2, control: 3, userDefined: 4, unused: 5, byte: 6 } as const;

export interface GgufVocabulary {
  /** `tokenizer.ggml.model`: `gpt2`, `llama`, `t5`, `bert`, … */
  model: string;
  /** `tokenizer.ggml.pre`: which regular expressions cut text into words; empty where the file does not say. */
  pre: string;
  /** By id. */
  pieces: string[];
  scores?: Float32Array;
  /** By id, a {@link PieceType} each. */
  types?: Int32Array;
  /** `left right`, the strongest first. */
  merges: string[];
  /** SentencePiece's compiled normalization rules. */
  charsmap?: Uint8Array;
  /** The id under `tokenizer.ggml.<name>_token_id`; undefined where there is none inside of the vocabulary. */
  id(name: string): number | undefined;
  /** `tokenizer.ggml.<name>`. */
  flag(name: string, fallback: boolean): boolean;
}

interface LongArray {
  type: number;
  length: number;
  address: number;
  bytes: number;
}

const kPrefix = 'tokenizer.ggml.';

/** Undefined where the file has none. */
export function readGgufVocabulary(
  core: Core,
  origin: Handle,
  metadata: ReadonlyMap<string, MetadataValue>,
): GgufVocabulary | undefined {
  const text = (name: string): string => {
    const value = metadata.get(kPrefix + name);
    return typeof value === 'string' ? value : '';
  };
  const vocabulary = core.answer<Vocabulary>(core.functions.vocabulary(origin.address));
  const { size, scores, types } = vocabulary;
  if (size === 0) return undefined;
  const charsmap = charsmapOf(core, origin, metadata.get(`${kPrefix}precompiled_charsmap`));
  return {
    model: text('model'),
    pre: text('pre'),
    pieces: piecesOf(core, vocabulary),
    merges: mergesOf(core, origin, metadata.get(`${kPrefix}merges`)),
    ...(scores !== 0 && { scores: core.memory.floats(scores, size) }),
    ...(types !== 0 && { types: Int32Array.from(core.memory.uint32s(types, size)) }),
    ...(charsmap && { charsmap }),
    id: (name) => {
      const value = metadata.get(`${kPrefix}${name}_token_id`);
      return typeof value === 'number' && value >= 0 && value < size ? value : undefined;
    },
    flag: (name, fallback) => {
      const value = metadata.get(kPrefix + name);
      return typeof value === 'boolean' ? value : fallback;
    },
  };
}

function piecesOf(core: Core, { size, text, offsets }: Vocabulary): string[] {
  const ends = core.memory.uint32s(offsets, size + 1);
  return Array.from({ length: size }, (_, id) =>
    core.memory.text(text + ends[id]!, ends[id + 1]! - ends[id]!),
  );
}

function longArray(core: Core, origin: Handle, key: string): LongArray | null {
  return core.answer(core.functions.longArray(origin.address, key));
}

// A short array is metadata like any other, a long one stands in the core's memory as the file has it.
function mergesOf(core: Core, origin: Handle, short: MetadataValue | undefined): string[] {
  if (Array.isArray(short)) return short.map(String);
  const array = longArray(core, origin, `${kPrefix}merges`);
  if (array === null) return [];
  const bytes = core.memory.bytes(array.address, array.bytes);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const decoder = new TextDecoder();
  let at = 0;
  return Array.from({ length: array.length }, () => {
    const length = Number(view.getBigUint64(at, true));
    const text = decoder.decode(bytes.subarray(at + 8, at + 8 + length));
    at += 8 + length;
    return text;
  });
}

function charsmapOf(core: Core, origin: Handle, short: MetadataValue | undefined): Uint8Array | undefined {
  if (Array.isArray(short)) return Uint8Array.from(short.map(Number));
  const array = longArray(core, origin, `${kPrefix}precompiled_charsmap`);
  return array === null ? undefined : core.memory.bytes(array.address, array.bytes);
}
