import { EmbeddingError } from '../../errors.js';
import { exportModel } from '../../export.js';
import type { ExportOptions, QuantizeReport } from '../../export.js';
import { UsageError, loadOptions, modelOptions, parseCount } from '../command.js';
import type { Arguments, Command } from '../command.js';
import { alignColumns, formatBytes, formatCount } from '../output.js';
import type { Output } from '../output.js';
import { containerOf, writeWhole } from '../write_file.js';
import { convertWords } from './words.js';

export const quantize: Command = {
  name: 'quantize',
  usage: 'IN OUT --type Q8_0',
  summary: 'write the tables of a model in another format',
  options: {
    type: { kind: 'value', value: 'TYPE', help: 'F16 BF16 Q8_0 Q4_0 Q4_1 Q5_0 Q5_1 Q4_K Q6_K IQ4_NL I8' },
    ...modelOptions,
  },
  async run(args, output) {
    const type = args.value('type');
    if (type === undefined) throw new UsageError('--type is missing');
    await write(args, output, { type });
  },
};

type Changes = Pick<ExportOptions, 'type' | 'rows' | 'padTo' | 'newRows'>;

function changesOf(args: Arguments): Changes {
  const [type, rows, padTo, newRows] = ['type', 'rows', 'pad-to', 'new-rows'].map((name) => args.value(name));
  if (newRows !== undefined && newRows !== 'zeros' && newRows !== 'mean') {
    throw new UsageError(`--new-rows ${newRows} is neither zeros nor mean`);
  }
  return {
    ...(type !== undefined && { type }),
    ...(rows !== undefined && { rows: parseCount('rows', rows) }),
    ...(padTo !== undefined && { padTo: parseCount('pad-to', padTo) }),
    ...(newRows !== undefined && { newRows }),
  };
}

export const convert: Command = {
  name: 'convert',
  usage: 'IN OUT [--type F16] [--rows N] [--pad-to 64]',
  summary:
    'write the tables of a model, or word vectors (GloVe, word2vec, fastText .vec), as another container',
  options: {
    type: { kind: 'value', value: 'TYPE', help: 'format of the tables; default: as they are' },
    rows: { kind: 'value', value: 'N', help: 'cut the table to N rows, or add rows up to N' },
    'pad-to': { kind: 'value', value: 'N', help: 'round the number of rows up to a multiple of N' },
    'new-rows': { kind: 'value', value: 'KIND', help: 'zeros (default) or mean: what added rows are' },
    ...modelOptions,
  },
  async run(args, output) {
    const changes = changesOf(args);
    try {
      await write(args, output, changes);
    } catch (error) {
      // No model file: word vectors have no magic, so they are looked for last.
      const unknown = error instanceof EmbeddingError && error.code === 'unsupported';
      if (!unknown || !(await writeWords(args, output, changes))) throw error;
    }
  },
};

/** False where IN holds no word vectors. */
async function writeWords(args: Arguments, output: Output, changes: Changes): Promise<boolean> {
  const { from, to } = filesOf(args);
  const words = await convertWords(from, to, loadOptions(args, output));
  if (words === undefined) return false;
  const { rows, dim, skipped, bytes } = words;
  if (Object.keys(changes).length > 0) {
    // From here on it is a model like any other.
    await write({ ...args, positionals: [to, to] }, output, changes);
    return true;
  }
  output.result({ out: to, bytes, dims: [rows, dim], skipped, tables: [] }, () => {
    const twice = skipped === 0 ? '' : `; ${formatCount(skipped)} words came twice and were left out`;
    return `${to}: ${formatBytes(bytes)}, ${formatCount(rows)} words of width ${dim}${twice}`;
  });
  return true;
}

function filesOf({ positionals }: Arguments): { from: string; to: string } {
  const [from, to, ...rest] = positionals;
  if (from === undefined || to === undefined || rest.length > 0) {
    throw new UsageError('two files are needed: IN and OUT');
  }
  return { from, to };
}

async function write(args: Arguments, output: Output, changes: Changes): Promise<void> {
  const { from, to } = filesOf(args);
  const options: ExportOptions = { ...loadOptions(args, output), ...changes, container: containerOf(to) };
  const result = await exportModel(from, options, async (file) => {
    const bytes = await writeWhole(to, file.bytes);
    return { out: to, bytes, vocabSize: file.vocabSize, tables: file.reports, warnings: file.warnings };
  });
  output.result(result, () => {
    const written = `${to}: ${formatBytes(result.bytes)}, ${formatCount(result.vocabSize)} rows`;
    const warnings = result.warnings.map((warning) => `warning: ${warning}`);
    return [written, ...warnings, ...(result.tables.length === 0 ? [] : [showReports(result.tables)])].join(
      '\n',
    );
  });
}

function showReports(reports: readonly QuantizeReport[]): string {
  return reports
    .map((report) =>
      alignColumns([
        [report.tensor, `${report.from} → ${report.to}`],
        ['  bytes', `${formatBytes(report.sourceBytes)} → ${formatBytes(report.bytes)}`],
        ['  relative error', report.relativeError.toExponential(3)],
        ['  worst row', `${report.worstRow} (${report.worstRowError.toExponential(3)})`],
        ['  mean cosine', report.meanCosine.toFixed(6)],
        [
          '  top-1 agreement',
          `${(100 * report.top1Agreement).toFixed(2)} % of ${report.sampledRows} sampled rows`,
        ],
      ]),
    )
    .join('\n');
}
