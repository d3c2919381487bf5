import { cache as models } from '../../cache/default.js';
import type { CachedFile } from '../../cache/cache.js';
import { UsageError } from '../command.js';
import type { Command } from '../command.js';
import type { Output } from '../output.js';
import { alignColumns, formatBytes } from '../output.js';

type Action = (output: Output, names: string[]) => Promise<void>;

const actions: Record<string, Action | undefined> = { list, size, clear, delete: remove };

export const cache: Command = {
  name: 'cache',
  usage: 'list|size|clear|delete URL...',
  summary: 'model files that are kept on this machine',
  options: {},
  async run(args, output) {
    const [name, ...names] = args.positionals;
    const action = Object.hasOwn(actions, name ?? '') ? actions[name!] : undefined;
    if (action === undefined) throw new UsageError(`"${name ?? ''}" is none of list, size, clear and delete`);
    if (action !== remove && names.length > 0) {
      throw new UsageError(`"${names[0]}" is one argument too many`);
    }
    await action(output, names);
  },
};

async function list(output: Output): Promise<void> {
  const files = await models.list();
  output.result({ files }, () => (files.length === 0 ? 'nothing is cached' : showFiles(files)));
}

function showFiles(files: readonly CachedFile[]): string {
  const rows = files.map(({ url, size, bytes, lastUsed }) => [
    url,
    `${formatBytes(bytes)} of ${formatBytes(size)}`,
    lastUsed.toISOString().slice(0, 16).replace('T', ' '),
  ]);
  return alignColumns([['file', 'cached', 'last used'], ...rows]);
}

async function size(output: Output): Promise<void> {
  const bytes = await models.size();
  output.result({ bytes }, () => formatBytes(bytes));
}

async function clear(output: Output): Promise<void> {
  const bytes = await models.size();
  await models.clear();
  output.result({ bytes }, () => `${formatBytes(bytes)} deleted`);
}

async function remove(output: Output, names: string[]): Promise<void> {
  if (names.length === 0) throw new UsageError('URL is missing: `id2vec cache list` shows them');
  let deleted = 0;
  for (const name of names) deleted += await models.delete(name);
  output.result({ deleted }, () => `${deleted} deleted`);
}
