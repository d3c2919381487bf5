import type { Command } from './command.js';
import { bench } from './commands/bench.js';
import { cache } from './commands/cache.js';
import { embed } from './commands/embed.js';
import { convert, quantize } from './commands/export.js';
import { factorize } from './commands/factorize.js';
import { info } from './commands/info.js';
import { logits } from './commands/logits.js';
import { lookup } from './commands/lookup.js';
import { analogy, nearest } from './commands/nearest.js';
import { pool } from './commands/pool.js';

/** All commands, in the order of the help. */
export const commands: readonly Command[] = [
  info,
  lookup,
  embed,
  pool,
  logits,
  nearest,
  analogy,
  quantize,
  factorize,
  convert,
  bench,
  cache,
];
