import type { Core } from './core.js';
import { EmbeddingError } from './errors.js';

/** The vocabulary that a file carries: piece i belongs to row i. */
export interface TokenList {
  readonly length: number;
  /**
   * The piece of an id, as stored (SentencePiece's "▁", GPT-2's "Ġ" and "<0x0A>" included).
   * @throws {RangeError} unless 0 ≤ id < length
   */
  at(id: number): string;
  /** The id of a piece; the lowest one if several are the same. */
  idOf(piece: string): number | undefined;
}

/** @internal Where the parts of a vocabulary lie in the core's memory; 0: the file has none. */
export interface Vocabulary {
  size: number;
  text: number;
  offsets: number;
  scores: number;
  types: number;
}

interface Place extends Pick<Vocabulary, 'text' | 'offsets'> {
  core: Core;
}

/**
 * @internal Pieces stay as UTF-8 in the core's memory, and become strings one by one; the index by piece is made
 * when it is first asked for.
 */
export class CoreTokens implements TokenList {
  readonly length: number;
  #place: Place | undefined;
  #index: Map<string, number> | undefined;

  /** The origin that the vocabulary is of has to live as long. */
  constructor(core: Core, vocabulary: Vocabulary) {
    this.#place = { core, ...vocabulary };
    this.length = vocabulary.size;
  }

  at(id: number): string {
    if (!Number.isInteger(id) || id < 0 || id >= this.length) {
      throw new RangeError(`token ${id} is outside the vocabulary of ${this.length} pieces`);
    }
    const { core, text, offsets } = this.#alive();
    const [start, end] = core.memory.uint32s(offsets + 4 * id, 2);
    return core.memory.text(text + start!, end! - start!);
  }

  idOf(piece: string): number | undefined {
    this.#alive();
    this.#index ??= this.#makeIndex();
    return this.#index.get(piece);
  }

  dispose(): void {
    this.#place = undefined;
    this.#index = undefined;
  }

  #alive(): Place {
    if (this.#place !== undefined) return this.#place;
    throw new EmbeddingError('disposed', 'The model of these tokens was disposed of: load it again.');
  }

  // A Map: "constructor" and "__proto__" are pieces like any other.
  #makeIndex(): Map<string, number> {
    const index = new Map<string, number>();
    for (let id = this.length - 1; id >= 0; id--) index.set(this.at(id), id);
    return index;
  }
}
