import type { Command } from './command.js';
import { cache } from './commands/cache.js';
import { info } from './commands/info.js';
import { logits } from './commands/logits.js';
import { lookup } from './commands/lookup.js';

/** All commands, in the order of the help. */
export const commands: readonly Command[] = [info, lookup, logits, cache];
