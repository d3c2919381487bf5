import { factorizeModel } from '../../factorize.js';
import type { FactorizeOptions, FactorizeReport } from '../../factorize.js';
import { loadOptions, modelOptions, parseCount, UsageError } from '../command.js';
import type { Command } from '../command.js';
import { alignColumns, formatBytes, formatCount } from '../output.js';
import { containerOf, writeWhole } from '../write_file.js';

export const factorize: Command = {
  name: 'factorize',
  usage: 'IN OUT --rank 128 [--type TYPE]',
  summary: 'write the embedding as A · B of a small rank, and say what that costs',
  options: {
    rank: { kind: 'value', value: 'K', help: 'columns of A; V · K + K · d weights remain' },
    type: { kind: 'value', value: 'TYPE', help: "format of A (default: the embedding's own, or F16)" },
    ...modelOptions,
  },
  async run(args, output) {
    const [from, to, ...rest] = args.positionals;
    if (from === undefined || to === undefined || rest.length > 0) {
      throw new UsageError('two files are needed: IN and OUT');
    }
    const word = args.value('rank');
    if (word === undefined) throw new UsageError('--rank is missing');
    const options: FactorizeOptions = {
      ...loadOptions(args, output),
      rank: parseCount('rank', word),
      type: args.value('type'),
      container: containerOf(to),
    };
    const result = await factorizeModel(from, options, async ({ report, bytes }) => {
      return { out: to, fileBytes: await writeWhole(to, bytes), ...report };
    });
    output.result(result, () => `${show(result)}\n${to}: ${formatBytes(result.fileBytes)}`);
  },
};

function show(report: FactorizeReport): string {
  const percent = (part: number) => `${(part * 100).toFixed(3)} %`;
  return alignColumns([
    ['rank', String(report.rank), ''],
    ['parameters', formatCount(report.parameters), `of ${formatCount(report.sourceParameters)}`],
    ['bytes', formatBytes(report.bytes), `of ${formatBytes(report.sourceBytes)}, A as ${report.dtype}`],
    ['error', percent(report.relativeError), `the best of this rank: ${percent(report.optimalError)}`],
    ['same top-1', percent(report.top1Agreement), `of ${report.sampledVectors} hidden vectors`],
  ]);
}
