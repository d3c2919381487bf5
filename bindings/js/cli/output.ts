import type { Progress } from '../open.js';
import { ProgressBar } from './progress.js';

/** Where a command's results go: one JSON object, or lines for people. Progress goes to a terminal's stderr. */
export class Output {
  readonly json: boolean;
  readonly #bar: ProgressBar | undefined;

  constructor(json: boolean) {
    this.json = json;
    this.#bar = process.stderr.isTTY ? new ProgressBar(process.stderr) : undefined;
  }

  /** For loads; undefined where nobody would see it. */
  get onProgress(): ((progress: Progress) => void) | undefined {
    const bar = this.#bar;
    return bar && ((progress) => bar.update(progress));
  }

  /** The one result of a command: `value` as JSON, or `text()` for people. */
  result(value: object, text: () => string): void {
    this.#bar?.clear();
    process.stdout.write(`${this.json ? JSON.stringify(value) : text()}\n`);
  }

  error(message: string): void {
    this.#bar?.clear();
    process.stderr.write(`id2vec: ${message.replace(/\s*\n\s*/g, ' ')}\n`);
  }
}

/** Columns as wide as their widest cell; numbers (`right`) end in one column. */
export function alignColumns(rows: readonly (readonly string[])[], right: readonly number[] = []): string {
  const widths: number[] = [];
  for (const row of rows) {
    row.forEach((cell, i) => (widths[i] = Math.max(widths[i] ?? 0, cell.length)));
  }
  const line = (row: readonly string[]) =>
    row
      .map((cell, i) => (right.includes(i) ? cell.padStart(widths[i]!) : cell.padEnd(widths[i]!)))
      .join('  ');
  return rows.map((row) => line(row).trimEnd()).join('\n');
}

/** 1536 → "1.5 KB" (of 1024 bytes). */
export function formatBytes(bytes: number): string {
  const units = ['bytes', 'KB', 'MB', 'GB', 'TB'];
  const power = bytes < 1024 ? 0 : Math.min(Math.floor(Math.log2(bytes) / 10), units.length - 1);
  return power === 0 ? `${bytes} bytes` : `${(bytes / 1024 ** power).toFixed(1)} ${units[power]}`;
}

/** 12345678 → "12,345,678". */
export function formatCount(count: number): string {
  return count.toLocaleString('en-US');
}

/** Four significant digits, as wide as the widest: "-0.01234". */
export function formatValue(value: number): string {
  if (value === 0 || (Math.abs(value) >= 0.001 && Math.abs(value) < 10000)) return value.toFixed(4);
  return value.toExponential(2);
}
