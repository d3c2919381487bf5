import type { Progress } from '../open.js';
import { formatBytes } from './output.js';

const kBarWidth = 30;
const kMillisecondsBetween = 50;

/** One line on a terminal that is drawn over itself. */
export class ProgressBar {
  #drawnAt = -Infinity;
  #visible = false;

  constructor(private readonly terminal: NodeJS.WriteStream) {}

  update({ loaded, total, phase }: Progress): void {
    const now = performance.now();
    if (now - this.#drawnAt < kMillisecondsBetween && loaded !== total) return;
    this.#drawnAt = now;
    this.#visible = true;
    this.terminal.write(`\r\x1b[K${line(loaded, total, phase).slice(0, (this.terminal.columns || 80) - 1)}`);
  }

  clear(): void {
    if (this.#visible) this.terminal.write('\r\x1b[K');
    this.#visible = false;
  }
}

function line(loaded: number, total: number, phase: string): string {
  if (total === 0) return `${phase}: ${formatBytes(loaded)}`;
  const done = Math.round((loaded / total) * kBarWidth);
  const bar = '█'.repeat(done) + '░'.repeat(kBarWidth - done);
  return `${bar} ${Math.floor((100 * loaded) / total)} %  ${formatBytes(loaded)} of ${formatBytes(total)}  ${phase}`;
}
