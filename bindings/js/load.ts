/**
 * Weights: streams the tensors that a model needs from their files to their final address in the core's memory.
 * Each chunk is copied once, and nothing of a tensor is held outside that memory.
 */
import type { Handle } from './handle.js';
import type { Opened, Role } from './open.js';
import { RoleReader } from './read.js';
import type { LoadContext } from './read.js';
import { EmbeddingTable, planeOf, planesOf } from './table.js';

/** Loads the tensors of one model, one role after the other. */
export class Loader {
  readonly #reader: RoleReader;

  /** `wanted`: indices into `roles` of all that will be loaded. */
  constructor(
    private readonly opened: Opened,
    private readonly roles: readonly Role[],
    wanted: readonly number[],
    context: LoadContext,
  ) {
    this.#reader = new RoleReader(opened, roles, wanted, context);
  }

  /** The table of roles[index]. */
  async load(index: number): Promise<EmbeddingTable> {
    await this.#prepare(index);
    const handle = this.#allocate(index);
    try {
      await this.#reader.read(index, (plane, at, chunk) =>
        this.#put(handle.address, index, plane, at, chunk),
      );
    } catch (error) {
      handle.delete();
      throw error;
    }
    return this.#table(handle, index);
  }

  /** The bytes of a small tensor that is no table, as stored. */
  async bytes(index: number): Promise<Uint8Array> {
    const all = new Uint8Array(this.roles[index]!.bytes);
    await this.#reader.read(index, (_, at, chunk) => all.set(chunk, at));
    return all;
  }

  /**
   * The head's table, or `embedding` itself if all bytes are the same: they are compared while they come in. From
   * the first chunk that differs, the head gets memory of its own, whose beginning is known by then.
   */
  async loadUnlessEqual(index: number, embedding: EmbeddingTable): Promise<EmbeddingTable> {
    if (this.roles[index]!.inlineBytes > 0) return this.load(index); // those are in no chunk
    await this.#prepare(index);
    let own: Handle | undefined;
    try {
      await this.#reader.readInOrder(index, (plane, at, chunk) => {
        if (!own && this.#holds(embedding.handle, index, plane, at, chunk)) return;
        own ??= this.#copyOf(embedding.handle, index);
        this.#put(own.address, index, plane, at, chunk);
      });
    } catch (error) {
      own?.delete();
      throw error;
    }
    return own ? this.#table(own, index) : embedding;
  }

  // What puts bytes into another order is in the core's second part.
  async #prepare(index: number): Promise<void> {
    if (this.roles[index]!.conversion !== 'none') await this.opened.core.whole();
  }

  #allocate(index: number): Handle {
    const { core, opener } = this.opened;
    const { allocateRole, deleteTable } = core.functions;
    return core.own(allocateRole(opener.address, index, core.isa), deleteTable);
  }

  #copyOf(table: number, index: number): Handle {
    const { core } = this.opened;
    const copy = this.#allocate(index);
    const from = planesOf(core, table);
    planesOf(core, copy.address).forEach(({ address, bytes }, i) => {
      core.functions.copy(address, from[i]!.address, bytes);
    });
    return copy;
  }

  #table(handle: Handle, index: number): EmbeddingTable {
    const { rows, cols, dtype } = this.roles[index]!;
    return new EmbeddingTable(this.opened.core, handle, { rows, cols, dtype });
  }

  #put(table: number, index: number, plane: number, at: number, chunk: Uint8Array): void {
    const { core, opener } = this.opened;
    if (this.roles[index]!.conversion === 'none') {
      core.memory.write(planeOf(core, table, plane).address + at, chunk);
    } else {
      core.staged(chunk, (address, count, done) => {
        core.functions.convert(opener.address, index, table, plane, at + done, address, count);
        return true;
      });
    }
  }

  /** True if the table has these bytes at their place already. */
  #holds(table: number, index: number, plane: number, at: number, chunk: Uint8Array): boolean {
    const { core, opener } = this.opened;
    if (this.roles[index]!.conversion === 'none') {
      return core.equalBytes(planeOf(core, table, plane).address + at, chunk) === chunk.length;
    }
    return core.staged(chunk, (address, count, done) =>
      core.functions.alreadyThere(opener.address, index, table, plane, at + done, address, count),
    );
  }
}
