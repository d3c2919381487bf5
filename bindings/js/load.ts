/**
 * Weights: streams the tensors that a model needs from their files to their final address in the core's memory.
 * Each chunk is copied once, and nothing of a tensor is held outside that memory.
 */
import type { Table as TableHandle } from '../../build/wasm/id2vec.mjs';
import { EmbeddingTable } from './table.js';
import type { Opened, Progress, Role, Segment } from './open.js';

interface Plane {
  address: number;
  bytes: number;
}

export interface LoadContext {
  signal?: AbortSignal;
  onProgress?: (progress: Progress) => void;
}

/** Ranges are cut into pieces no smaller than this when they are read side by side. */
const kPieceBytes = 8 << 20;

/** Loads the tensors of one model, one role after the other, and tells how far it is. */
export class Loader {
  #loaded = 0;
  readonly #total: number;

  /** `roles`: indices into `allRoles` of all that will be loaded. */
  constructor(
    private readonly opened: Opened,
    private readonly allRoles: readonly Role[],
    roles: readonly number[],
    private readonly context: LoadContext,
  ) {
    this.#total = roles.reduce((sum, index) => sum + allRoles[index]!.bytes, 0);
  }

  /** The table of allRoles[index]. */
  async load(index: number): Promise<EmbeddingTable> {
    const role = this.allRoles[index]!;
    const handle = this.#allocate(index);
    try {
      await this.#fill(handle, role);
    } catch (error) {
      handle.delete();
      throw error;
    }
    return this.#table(handle, role);
  }

  /** The bytes of a small tensor that is no table, as stored. */
  async bytes(index: number): Promise<Uint8Array> {
    const role = this.allRoles[index]!;
    const all = new Uint8Array(role.bytes);
    let at = 0;
    for (const { file, offset, bytes } of role.segments) {
      all.set(await this.opened.source(file).read(offset, offset + bytes, this.context), at);
      at += bytes;
    }
    this.#report(at, role.role);
    return all;
  }

  /**
   * The head's table, or `embedding` itself if all bytes are the same: they are compared while they come in. From
   * the first byte that differs, the head gets memory of its own, whose beginning is known by then.
   */
  async loadUnlessEqual(index: number, embedding: EmbeddingTable, like: Role): Promise<EmbeddingTable> {
    const role = this.allRoles[index]!;
    if (!sameLayout(role, like)) return this.load(index);
    const { core } = this.opened;
    const segment = role.segments[0]!;
    const { signal } = this.context;
    const stream = this.opened
      .source(segment.file)
      .stream(segment.offset, segment.offset + segment.bytes, { signal });
    let own: TableHandle | undefined;
    let at = 0;
    try {
      for await (const chunk of stream) {
        const same = own ? 0 : core.equalBytes(embedding.address + at, chunk);
        if (same < chunk.length) {
          own ??= this.#copyOfBeginning(index, embedding.address, at + same);
          core.memory.write(planesOf(own)[0]!.address + at + same, chunk.subarray(same));
        }
        at += chunk.length;
        this.#report(chunk.length, role.role);
      }
    } catch (error) {
      own?.delete();
      throw error;
    }
    return own ? this.#table(own, role) : embedding;
  }

  #copyOfBeginning(index: number, address: number, bytes: number): TableHandle {
    const handle = this.#allocate(index);
    this.opened.core.functions.copy(planesOf(handle)[0]!.address, address, bytes);
    return handle;
  }

  #allocate(index: number): TableHandle {
    const { core, opener } = this.opened;
    return core.require(opener.allocate(index, core.isa));
  }

  #table(handle: TableHandle, { rows, cols, dtype }: Role): EmbeddingTable {
    return new EmbeddingTable(this.opened.core, handle, { rows, cols, dtype });
  }

  async #fill(handle: TableHandle, role: Role): Promise<void> {
    const planes = planesOf(handle);
    const pieces = role.segments.flatMap((segment) => this.#pieces(segment));
    await this.#inParallel(pieces, async (piece, signal) => {
      const source = this.opened.source(piece.file);
      let address = planes[piece.plane]!.address + piece.target;
      for await (const chunk of source.stream(piece.offset, piece.offset + piece.bytes, { signal })) {
        this.opened.core.memory.write(address, chunk);
        address += chunk.length;
        this.#report(chunk.length, role.role);
      }
    });
  }

  #pieces(segment: Segment): Segment[] {
    const { parallel } = this.opened.source(segment.file);
    const count = Math.min(parallel, Math.floor(segment.bytes / kPieceBytes)) || 1;
    const bytes = Math.ceil(segment.bytes / count);
    return Array.from({ length: count }, (_, i) => cut(segment, i * bytes, (i + 1) * bytes));
  }

  /** Starts the pieces in order, as many at once as their sources like. The first failure stops the others. */
  async #inParallel(
    pieces: Segment[],
    work: (piece: Segment, signal: AbortSignal) => Promise<void>,
  ): Promise<void> {
    const stop = new AbortController();
    const signal = this.context.signal ? AbortSignal.any([this.context.signal, stop.signal]) : stop.signal;
    const queue = [...pieces];
    const next = async (): Promise<void> => {
      for (let piece = queue.shift(); piece !== undefined; piece = queue.shift()) await work(piece, signal);
    };
    const atOnce = Math.min(...pieces.map((piece) => this.opened.source(piece.file).parallel));
    const workers = Array.from({ length: Math.min(atOnce, pieces.length) }, next);
    try {
      await Promise.all(workers);
    } catch (error) {
      stop.abort(error);
      await Promise.allSettled(workers);
      throw error;
    }
  }

  #report(bytes: number, phase: string): void {
    this.#loaded += bytes;
    this.context.onProgress?.({ loaded: this.#loaded, total: this.#total, phase });
  }
}

/** True where equal bytes would mean equal tables. Only then is a comparison worth while. */
export function sameLayout(a: Role, b: Role): boolean {
  const plain = [a, b].every((role) => role.conversion === 'none' && role.segments.length === 1);
  return plain && a.dtype === b.dtype && a.rows === b.rows && a.cols === b.cols && a.bytes === b.bytes;
}

function planesOf(handle: TableHandle): Plane[] {
  return handle.planes() as Plane[];
}

/** Bytes [start, end) of a segment. */
function cut(segment: Segment, start: number, end: number): Segment {
  const { offset, target, bytes } = segment;
  return { ...segment, offset: offset + start, target: target + start, bytes: Math.min(end, bytes) - start };
}
