/** Reads the tensors of roles from their files, in chunks, and tells how far it is. */
import type { Opened, Progress, Role, Segment } from './open.js';
import { inParallel } from './parallel.js';

export interface LoadContext {
  signal?: AbortSignal;
  onProgress?: (progress: Progress) => void;
}

/**
 * Gets a chunk and its place: byte `at` of a plane, or, where the role's conversion is `strided`, byte `at` of what
 * is stored. The chunk is valid until the promise settles.
 */
export type Take = (plane: number, at: number, chunk: Uint8Array) => void | Promise<void>;

/** Ranges are cut into pieces no smaller than this when they are read side by side. */
export const kPieceBytes = 8 << 20;

export class RoleReader {
  #loaded = 0;
  readonly #total: number;

  /** `wanted`: indices into `roles` of all that will be read. */
  constructor(
    private readonly opened: Opened,
    private readonly roles: readonly Role[],
    wanted: readonly number[],
    private readonly context: LoadContext,
  ) {
    this.#total = wanted.reduce((sum, index) => sum + roles[index]!.bytes, 0);
  }

  /** All bytes of a role, in any order, with as many requests at once as its sources like. */
  async read(index: number, take: Take): Promise<void> {
    const { role, segments } = this.roles[index]!;
    const pieces = segments.flatMap((segment) => this.#pieces(segment));
    const atOnce = Math.min(...pieces.map((piece) => this.opened.source(piece.file).parallel));
    await inParallel(pieces, atOnce, this.context.signal, (piece, signal) =>
      this.#stream(role, piece, signal, take),
    );
  }

  /** Counts bytes of a role that were read elsewhere. */
  count(role: string, bytes: number): void {
    this.#loaded += bytes;
    this.context.onProgress?.({ loaded: this.#loaded, total: this.#total, phase: role });
  }

  /** All bytes of a role, one after the other. */
  async readInOrder(index: number, take: Take): Promise<void> {
    const { role, segments } = this.roles[index]!;
    for (const segment of segments) await this.#stream(role, segment, this.context.signal, take);
  }

  async #stream(role: string, segment: Segment, signal: AbortSignal | undefined, take: Take): Promise<void> {
    const { offset, bytes, plane } = segment;
    let at = segment.target;
    for await (const chunk of this.opened.source(segment.file).stream(offset, offset + bytes, { signal })) {
      await take(plane, at, chunk);
      at += chunk.length;
      this.count(role, chunk.length);
    }
  }

  #pieces(segment: Segment): Segment[] {
    const { parallel } = this.opened.source(segment.file);
    const count = Math.min(parallel, Math.floor(segment.bytes / kPieceBytes)) || 1;
    const bytes = Math.ceil(segment.bytes / count);
    return Array.from({ length: count }, (_, i) => cut(segment, i * bytes, (i + 1) * bytes));
  }
}

/** Bytes [start, end) of a segment. */
function cut(segment: Segment, start: number, end: number): Segment {
  const { offset, target, bytes } = segment;
  return { ...segment, offset: offset + start, target: target + start, bytes: Math.min(end, bytes) - start };
}
