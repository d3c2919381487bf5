/** Which bytes of a file are there: blocks are named by the range they hold, `START-END`. */
import type { Range } from '../sources/source.js';

export function blockName({ start, end }: Range): string {
  return `${start}-${end}`;
}

/** The range of a block's name; undefined for a block that holds something else. */
export function blockRange(name: string): Range | undefined {
  const match = /^(\d+)-(\d+)$/.exec(name);
  if (!match) return undefined;
  const range = { start: Number(match[1]), end: Number(match[2]) };
  return Number.isSafeInteger(range.end) && range.start < range.end ? range : undefined;
}

/** Ranges, which may overlap (two tabs cut their blocks differently), in order of their start. */
export class Extents {
  readonly #ranges: Range[] = [];

  constructor(ranges: Iterable<Range> = []) {
    for (const range of ranges) this.add(range);
  }

  add(range: Range): void {
    this.#ranges.splice(this.#after(range.start), 0, range);
  }

  remove(range: Range): void {
    const i = this.#ranges.indexOf(range);
    if (i >= 0) this.#ranges.splice(i, 1);
  }

  /** The range that holds `at` and reaches furthest. */
  covering(at: number): Range | undefined {
    let best: Range | undefined;
    for (let i = this.#after(at) - 1; i >= 0 && i >= this.#after(at) - kOverlap; i -= 1) {
      const range = this.#ranges[i]!;
      if (range.end > at && range.end > (best?.end ?? 0)) best = range;
    }
    return best;
  }

  /** Where the gap at `at` ends: the start of the next range, or `end`. */
  gapEnd(at: number, end: number): number {
    const next = this.#ranges[this.#after(at)];
    return next ? Math.min(next.start, end) : end;
  }

  /** True where no byte of [start, end) is missing. */
  covers(start: number, end: number): boolean {
    let at = start;
    while (at < end) {
      const range = this.covering(at);
      if (!range) return false;
      at = range.end;
    }
    return true;
  }

  /** Bytes that are there, each counted once. */
  bytes(): number {
    let sum = 0;
    let at = 0;
    for (const { start, end } of this.#ranges) {
      sum += Math.max(0, end - Math.max(start, at));
      at = Math.max(at, end);
    }
    return sum;
  }

  /** Index of the first range that starts after `at`. */
  #after(at: number): number {
    let low = 0;
    let high = this.#ranges.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#ranges[middle]!.start <= at) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

// How many ranges back one is looked for that reaches over its successors. Blocks are of much the same length, so
// more than a few never overlap; a miss costs a download and not a wrong byte.
const kOverlap = 16;
