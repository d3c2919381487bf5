import { EmbeddingError } from './errors.js';

/** An object of the core, which JavaScript owns. Functions of the core take its address. */
export class Handle {
  #address: number;

  constructor(
    address: number,
    private readonly destroy: (address: number) => void,
  ) {
    this.#address = address;
  }

  /** @throws {EmbeddingError} `disposed` after delete(): nothing in WebAssembly stops a call with an old address */
  get address(): number {
    if (this.#address !== 0) return this.#address;
    throw new EmbeddingError('disposed', 'What was asked was disposed of meanwhile: load it again.');
  }

  delete(): void {
    this.destroy(this.address);
    this.#address = 0;
  }
}
