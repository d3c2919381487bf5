import { EmbeddingModel } from '../../model.js';
import type { Metric, Neighbours } from '../../stage_types.js';
import type { TokenList } from '../../tokens.js';
import { firstPositional, loadOptions, modelOptions, parseCount, UsageError } from '../command.js';
import type { Arguments, Command } from '../command.js';
import { alignColumns, formatValue } from '../output.js';
import { idOf } from '../token_ids.js';
import { pieceOf } from './lookup.js';

const kDefaultTop = 10;

export const nearest: Command = {
  name: 'nearest',
  usage: 'SOURCE ID|TOKEN [--top 10] [--metric cosine]',
  summary: 'the rows nearest to one row',
  options: {
    top: { kind: 'value', value: 'K', help: `how many neighbours (default ${kDefaultTop})` },
    metric: { kind: 'value', value: 'NAME', help: 'cosine (default), dot or euclidean' },
    ...modelOptions,
  },
  async run(args, output) {
    const source = firstPositional(args, 'SOURCE');
    const [word, extra] = args.positionals.slice(1);
    if (word === undefined) throw new UsageError('ID or TOKEN is missing');
    if (extra !== undefined) throw new UsageError(`"${extra}" is one argument too many`);
    const k = parseTop(args);
    const metric = parseMetric(args.value('metric') ?? 'cosine');
    using model = await EmbeddingModel.load(source, loadOptions(args, output));
    const found = await model.nearest(idOf(word, model), Math.min(k, model.vocabSize - 1), { metric });
    output.result(neighboursToJson(found, model.tokens), () => showNeighbours(found, model.tokens));
  },
};

export const analogy: Command = {
  name: 'analogy',
  usage: 'SOURCE --positive a b --negative c [--top 10]',
  summary: 'the ids that complete an analogy: king − man + woman',
  options: {
    positive: { kind: 'words', value: 'ID|TOKEN', help: 'added' },
    negative: { kind: 'words', value: 'ID|TOKEN', help: 'subtracted' },
    top: { kind: 'value', value: 'K', help: `how many answers (default ${kDefaultTop})` },
    ...modelOptions,
  },
  async run(args, output) {
    const source = firstPositional(args, 'SOURCE');
    if (args.positionals.length > 1)
      throw new UsageError(`"${args.positionals[1]}" is one argument too many`);
    const words = { positive: args.list('positive'), negative: args.list('negative') ?? [] };
    if (words.positive === undefined) throw new UsageError('--positive is missing');
    const k = parseTop(args);
    using model = await EmbeddingModel.load(source, loadOptions(args, output));
    const positive = words.positive.map((word) => idOf(word, model));
    const negative = words.negative.map((word) => idOf(word, model));
    const given = new Set([...positive, ...negative]).size;
    const found = await model.analogy({ positive, negative }, Math.min(k, model.vocabSize - given));
    output.result(neighboursToJson(found, model.tokens), () => showNeighbours(found, model.tokens));
  },
};

function parseTop(args: Arguments): number {
  return parseCount('top', args.value('top') ?? String(kDefaultTop));
}

function parseMetric(name: string): Metric {
  if (name === 'cosine' || name === 'dot' || name === 'euclidean') return name;
  throw new UsageError(`--metric ${name} is none of cosine, dot and euclidean`);
}

/** Tokens are null where the file carries no vocabulary. */
function neighboursToJson({ values, indices }: Neighbours, tokens: TokenList | undefined): object {
  return {
    values: Array.from(values),
    indices: Array.from(indices),
    tokens: Array.from(indices, (id) => (tokens !== undefined && id < tokens.length ? tokens.at(id) : null)),
  };
}

function showNeighbours({ values, indices }: Neighbours, tokens: TokenList | undefined): string {
  const rows = Array.from(indices, (id, i) => [String(id), pieceOf(id, tokens), formatValue(values[i]!)]);
  return alignColumns(rows, [0, 2]);
}
