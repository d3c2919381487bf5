import { EmbeddingError } from '../../errors.js';
import { describeModel, isTied } from '../../info.js';
import type { ModelDescription } from '../../info.js';
import { openHeaders, openModel } from '../../open.js';
import type { DirectoryData, OpenOptions, TensorInfo } from '../../open.js';
import { openSource } from '../../sources/open.js';
import type { Source } from '../../sources/source.js';
import { firstPositional, loadOptions, modelOptions, UsageError } from '../command.js';
import type { Command } from '../command.js';
import { alignColumns, formatBytes, formatCount } from '../output.js';

export const info: Command = {
  name: 'info',
  usage: 'SOURCE',
  summary: 'container, architecture, tensors, roles, profile, bytes; reads headers only',
  options: modelOptions,
  async run(args, output) {
    const address = firstPositional(args, 'SOURCE');
    if (args.positionals.length > 1)
      throw new UsageError(`"${args.positionals[1]}" is one argument too many`);
    const options = loadOptions(args, output);
    const source = await openSource(address, options);
    try {
      const model = await describe(source, options);
      output.result(model, () => ('dtype' in model ? showModel(model) : showDirectory(model)));
    } finally {
      await source.close?.();
    }
  },
};

/** A file without an embedding table: what there is, so that `--tensor` can name one. */
type Tableless = Pick<ModelDescription, 'container' | 'tensors' | 'warnings'>;

async function describe(source: Source, options: OpenOptions): Promise<ModelDescription | Tableless> {
  try {
    const opened = await openModel(source, options);
    const plan = opened.plan();
    return describeModel(opened, plan, await isTied(opened, plan));
  } catch (error) {
    const asked = options.tensor !== undefined || options.head !== undefined;
    if (asked || !(error instanceof EmbeddingError) || !kTableless.includes(error.code)) throw error;
    const { directory } = await openHeaders(source, options);
    return describeTableless(directory, error.message);
  }
}

const kTableless = ['not-found', 'ambiguous'];

function describeTableless({ container, tensors, skipped }: DirectoryData, why: string): Tableless {
  return { container, tensors, warnings: [...skipped, why] };
}

function showModel(model: ModelDescription): string {
  const facts = [
    ['container', model.container],
    ['architecture', model.architecture || 'not stated'],
    ['embedding', `[${model.vocabSize}, ${model.dim}] ${model.dtype}`],
    ['parameters', formatCount(model.parameters)],
    ['bytes', formatBytes(model.bytes)],
    ['head', model.tied ? 'tied: the embedding table itself' : `untied: ${model.roles.head}`],
    ...Object.entries(model.roles).map(([role, name]) => [`role ${role}`, name]),
    ...Object.entries(model.profile).map(([name, value]) => [`profile ${name}`, String(value)]),
    ...model.warnings.map((warning) => ['warning', warning]),
  ];
  return `${alignColumns(facts)}\n\n${showBill(model)}\n\n${showTensors(model.tensors)}`;
}

function showBill({ memoryBill: bill, dim }: ModelDescription): string {
  const share = `${(bill.shareOfFile * 100).toFixed(1)} % of all tensors`;
  const facts = [
    ['bill', formatBytes(bill.bytes), share],
    ['bits per weight', bill.bitsPerWeight.toFixed(2), ''],
    ['saved by tying', formatBytes(bill.savedByTying), ''],
    ...bill.factorized.map(({ rank, bytes, parameters }) => {
      return [`as rank ${rank} of ${dim}`, formatBytes(bytes), `${formatCount(parameters)} parameters`];
    }),
    ...bill.formats.map(({ format, bytes }) => [`as ${format}`, formatBytes(bytes), '']),
  ];
  return alignColumns(facts, [1]);
}

function showDirectory({ container, tensors, warnings }: Tableless): string {
  const facts = [['container', container], ...warnings.map((warning) => ['warning', warning])];
  return `${alignColumns(facts)}\n\n${showTensors(tensors)}`;
}

function showTensors(tensors: readonly TensorInfo[]): string {
  if (tensors.length === 0) return 'no tensors';
  const rows = tensors.map(({ name, dtype, shape, file, offset, bytes }) => [
    name,
    dtype,
    `[${shape.join(', ')}]`,
    file ?? '',
    String(offset),
    formatBytes(bytes),
  ]);
  return alignColumns([['tensor', 'dtype', 'shape', 'file', 'offset', 'bytes'], ...rows], [4, 5]);
}
