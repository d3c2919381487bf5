import type { LoadOptions } from '../model.js';
import type { Output } from './output.js';

/** One option of a command, `--name` or `--name VALUE`. */
export interface Option {
  /** `flag` takes no value; `numbers` takes all following numbers, `words` everything up to the next option. */
  kind: 'flag' | 'value' | 'numbers' | 'words';
  /** What the help calls its value: `FILE`. */
  value?: string;
  help: string;
}

/** What the command line said, taken apart. */
export interface Arguments {
  positionals: string[];
  has(option: string): boolean;
  /** Of a `value` option; undefined where it is absent. */
  value(option: string): string | undefined;
  /** Of a `numbers` or `words` option; undefined where it is absent. */
  list(option: string): string[] | undefined;
}

/** A command is one file that exports one of these, and one row in `commands.ts`. */
export interface Command {
  name: string;
  /** `SOURCE ID...` */
  usage: string;
  summary: string;
  options: Record<string, Option>;
  run(args: Arguments, output: Output): Promise<void>;
}

/** The command line was wrong, as opposed to what it asked for: exit code 2. */
export class UsageError extends Error {}

/** Options of every command that loads a model. */
export const modelOptions: Record<string, Option> = {
  tensor: { kind: 'value', value: 'NAME', help: 'tensor that is the embedding table' },
  head: { kind: 'value', value: 'NAME', help: 'tensor that is the head' },
  isa: { kind: 'value', value: 'SET', help: 'auto, scalar, simd128 or relaxed' },
  offline: { kind: 'flag', help: 'use what is cached, or fail' },
  'no-cache': { kind: 'flag', help: 'keep nothing of what is fetched, and use nothing that was kept' },
  integrity: { kind: 'value', value: 'DIGEST', help: 'sha256-… of the whole file' },
};

export function loadOptions(args: Arguments, output: Output): LoadOptions {
  return {
    tensor: args.value('tensor'),
    head: args.value('head'),
    isa: args.value('isa') as LoadOptions['isa'],
    ...(args.has('offline') && { offline: true }),
    ...(args.has('no-cache') && { cache: false }),
    integrity: args.value('integrity'),
    onProgress: output.onProgress,
  };
}

export function firstPositional(args: Arguments, name: string): string {
  const first = args.positionals[0];
  if (first === undefined) throw new UsageError(`${name} is missing`);
  return first;
}

/** Numbers separated by spaces or commas. Whether they are ids of the vocabulary, the model knows. */
export function parseIds(words: readonly string[]): number[] {
  const ids = words.flatMap((word) => word.split(',')).filter((word) => word !== '');
  if (ids.length === 0) throw new UsageError('no id was given');
  return ids.map((word) => {
    const id = Number(word);
    if (word.trim() === '' || Number.isNaN(id))
      throw new UsageError(`"${word}" is not an id, which is a number`);
    return id;
  });
}

/** A whole number of at least 1. */
export function parseCount(option: string, text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count >= 1) return count;
  throw new UsageError(`--${option} ${text} is not a whole number of at least 1`);
}
