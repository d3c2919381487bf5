#!/usr/bin/env node
/**
 * The command `id2vec`. Exit code 0: done; 1: it could not be done; 2: the command line was wrong. Both failures
 * print one line on stderr.
 */
import { version } from '../../../package.json';
import { UsageError } from './command.js';
import type { Command, Option } from './command.js';
import { commands } from './commands.js';
import { helpOfAll, helpOfOne } from './help.js';
import { Output } from './output.js';
import { parseCommandLine } from './parse.js';

const commonOptions: Record<string, Option> = {
  json: { kind: 'flag', help: 'print one JSON object and nothing else' },
  help: { kind: 'flag', help: 'print this help' },
};

async function main(words: readonly string[]): Promise<number> {
  const output = new Output(words.includes('--json'));
  try {
    return await dispatch(words, output);
  } catch (error) {
    output.error(error instanceof Error ? error.message : String(error));
    return error instanceof UsageError ? 2 : 1;
  }
}

async function dispatch(words: readonly string[], output: Output): Promise<number> {
  const [name, ...rest] = words;
  if (name === '--version') {
    output.result({ version }, () => version);
    return 0;
  }
  if (name === '--help' || name === 'help') {
    process.stdout.write(helpOfAll(commands));
    return 0;
  }
  if (name === undefined) throw new UsageError('no command was given: try id2vec --help');
  const command = commands.find((candidate) => candidate.name === name);
  if (command === undefined) throw new UsageError(`there is no command "${name}": try id2vec --help`);
  return runCommand(command, rest, output);
}

async function runCommand(command: Command, words: readonly string[], output: Output): Promise<number> {
  const options = { ...command.options, ...commonOptions };
  try {
    const args = parseCommandLine(words, options);
    if (args.has('help')) process.stdout.write(helpOfOne(command, options));
    else await command.run(args, output);
    return 0;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new UsageError(`${error.message}; usage: id2vec ${command.name} ${command.usage}`);
  }
}

// A reader that has seen enough (`| head`) closes the pipe; that is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});
process.exitCode = await main(process.argv.slice(2));
