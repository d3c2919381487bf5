import type { Origin } from '../../build/wasm/id2vec.mjs';
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

/**
 * @internal Pieces stay as UTF-8 in the core's memory, and become strings one by one; the index by piece is made
 * when it is first asked for.
 */
export class CoreTokens implements TokenList {
  readonly length: number;
  #place: { core: Core; origin: Origin } | undefined;
  #index: Map<string, number> | undefined;

  /** `origin` is the caller's, and has to live as long. */
  constructor(core: Core, origin: Origin) {
    this.#place = { core, origin };
    this.length = origin.size;
  }

  at(id: number): string {
    if (!Number.isInteger(id) || id < 0 || id >= this.length) {
      throw new RangeError(`token ${id} is outside the vocabulary of ${this.length} pieces`);
    }
    const { core, origin } = this.#alive();
    const [start, end] = core.memory.uint32s(origin.offsets + 4 * id, 2);
    return core.memory.text(origin.text + start!, end! - start!);
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

  #alive(): { core: Core; origin: Origin } {
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
