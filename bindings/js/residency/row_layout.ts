/**
 * Where a single row of a table lies in its files. A table has up to three planes (quants or whole blocks, scales,
 * offsets), each made of segments; row r of a plane is bytes [r · rowBytes, (r + 1) · rowBytes) of it, which may
 * cross from one segment into the next.
 */

/** As in the plan: files[file][offset, offset + bytes) is what lies at `target` of plane `plane`. */
export interface RowSegment {
  file: number;
  offset: number;
  bytes: number;
  plane: number;
  target: number;
}

/** A piece of a row: files[file][start, end), to be put at `at` of the row's bytes. */
export interface Piece {
  file: number;
  start: number;
  end: number;
  at: number;
}

interface PlaneLayout {
  segments: RowSegment[];
  rowBytes: number;
  /** Of this plane's part in a row whose planes are put one behind the other. */
  at: number;
}

export class RowLayout {
  /** Bytes of a row, all planes together, in the order of the planes. */
  readonly rowBytes: number;
  /** Bytes of a row in each plane; 0 for a plane that the format does not have. */
  readonly planeBytes: number[];
  readonly #planes: PlaneLayout[] = [];

  constructor(segments: readonly RowSegment[], rows: number) {
    this.planeBytes = [];
    let at = 0;
    const count = 1 + Math.max(...segments.map(({ plane }) => plane));
    for (let plane = 0; plane < count; plane += 1) {
      const own = segments.filter((segment) => segment.plane === plane);
      own.sort((a, b) => a.target - b.target);
      const rowBytes = own.reduce((sum, { bytes }) => sum + bytes, 0) / rows;
      this.#planes.push({ segments: own, rowBytes, at });
      this.planeBytes.push(rowBytes);
      at += rowBytes;
    }
    this.rowBytes = at;
  }

  /** All pieces of row `id`. */
  pieces(id: number): Piece[] {
    return this.#planes.flatMap((plane) => piecesOf(plane, id));
  }
}

function piecesOf({ segments, rowBytes, at }: PlaneLayout, id: number): Piece[] {
  const first = id * rowBytes;
  const pieces: Piece[] = [];
  for (const { file, offset, bytes, target } of segments) {
    const from = Math.max(first, target);
    const to = Math.min(first + rowBytes, target + bytes);
    if (from >= to) continue;
    const start = offset + from - target;
    pieces.push({ file, start, end: start + to - from, at: at + from - first });
  }
  return pieces;
}
