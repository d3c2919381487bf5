import type { Command, Option } from './command.js';
import { alignColumns } from './output.js';

export function helpOfAll(commands: readonly Command[]): string {
  const rows = commands.map(({ name, usage, summary }) => `  id2vec ${name} ${usage}\n      ${summary}`);
  return (
    `Token ids to embedding vectors and back to logits, straight from a model file.\n\n` +
    `${rows.join('\n')}\n\n` +
    `SOURCE is a path, a URL, or hf://owner/name/file.\n` +
    `id2vec COMMAND --help says more; --json prints one JSON object.\n`
  );
}

export function helpOfOne(command: Command, options: Record<string, Option>): string {
  const rows = Object.entries(options).map(([name, option]) => [
    `  --${name} ${valueOf(option)}`.trimEnd(),
    option.help,
  ]);
  return `id2vec ${command.name} ${command.usage}\n\n${command.summary}\n\n${alignColumns(rows)}\n`;
}

function valueOf({ kind, value }: Option): string {
  if (kind === 'flag') return '';
  return kind === 'value' ? (value ?? 'VALUE') : `${value ?? 'VALUE'}...`;
}
