import { parseArgs } from 'node:util';
import type { Arguments, Option } from './command.js';
import { UsageError } from './command.js';

const kNumber = /^-?[\d.]+(,-?[\d.]+)*$/;

/**
 * Takes a command line apart with Node's own parser, after two rewritings that it has no notion of: an option that
 * takes several words becomes that many options, and a negative number is no option.
 */
export function parseCommandLine(words: readonly string[], options: Record<string, Option>): Arguments {
  const config = Object.fromEntries(
    Object.entries(options).map(([name, { kind }]) => [
      name,
      kind === 'flag'
        ? ({ type: 'boolean' } as const)
        : ({ type: 'string', multiple: kind !== 'value' } as const),
    ]),
  );
  let parsed: ReturnType<typeof parseArgs>;
  try {
    parsed = parseArgs({ args: rewrite(words, options), options: config, allowPositionals: true });
  } catch (error) {
    throw new UsageError(firstSentence((error as Error).message));
  }
  const values = parsed.values as Record<string, string | boolean | string[] | undefined>;
  return {
    positionals: parsed.positionals.map(unmark),
    has: (name) => values[name] !== undefined,
    value: (name) => values[name] as string | undefined,
    list: (name) => values[name] as string[] | undefined,
  };
}

// A character that no argument can hold keeps a negative number from looking like an option.
const kMark = '\0';
const unmark = (word: string) => (word.startsWith(kMark) ? word.slice(1) : word);

function rewrite(words: readonly string[], options: Record<string, Option>): string[] {
  const out: string[] = [];
  for (let i = 0; i < words.length; i++) {
    const word = words[i]!;
    const kind = word.startsWith('--') ? options[word.slice(2)]?.kind : undefined;
    if (kind === 'numbers' || kind === 'words') {
      const taken = takeWhile(
        words,
        i + 1,
        (next) => kNumber.test(next) || (kind === 'words' && !next.startsWith('-')),
      );
      if (taken.length === 0) throw new UsageError(`${word} needs at least one value`);
      out.push(...taken.map((value) => `${word}=${value}`));
      i += taken.length;
    } else {
      out.push(word.startsWith('-') && kNumber.test(word) ? kMark + word : word);
    }
  }
  return out;
}

function takeWhile(words: readonly string[], from: number, wanted: (word: string) => boolean): string[] {
  let end = from;
  while (end < words.length && wanted(words[end]!)) end++;
  return words.slice(from, end);
}

// Node's messages go on with advice about "--", which would be wrong here.
function firstSentence(message: string): string {
  return message.split(/\. |\n/)[0]!.replace(/\.$/, '');
}
