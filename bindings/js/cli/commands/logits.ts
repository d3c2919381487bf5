import { EmbeddingModel } from '../../model.js';
import type { TokenList } from '../../tokens.js';
import type { Precision, Tensor, TopK } from '../../types.js';
import { firstPositional, loadOptions, modelOptions, parseCount, parseIds, UsageError } from '../command.js';
import type { Arguments, Command } from '../command.js';
import { readNpy, writeNpy } from '../npy.js';
import { alignColumns, formatValue } from '../output.js';
import { pieceOf } from './lookup.js';

const kDefaultTop = 10;

export const logits: Command = {
  name: 'logits',
  usage: 'SOURCE (--ids ID... | --hidden h.npy) [--top 10] [--out y.npy]',
  summary: 'scores of all ids for hidden vectors: the best k, or all [N, V]',
  options: {
    ids: { kind: 'numbers', value: 'ID', help: 'hidden vectors are the rows of these ids' },
    hidden: { kind: 'value', value: 'FILE', help: 'hidden vectors [N, d] from an npy file' },
    top: { kind: 'value', value: 'K', help: `how many ids to print for each (default ${kDefaultTop})` },
    out: { kind: 'value', value: 'FILE', help: 'write all scores [N, V] as a float32 npy file' },
    precision: { kind: 'value', value: 'NAME', help: 'high (default) or fast' },
    ...modelOptions,
  },
  async run(args, output) {
    const source = firstPositional(args, 'SOURCE');
    const hiddenFrom = hiddenSource(args);
    const k = parseCount('top', args.value('top') ?? String(kDefaultTop));
    const precision = parsePrecision(args.value('precision'));
    using model = await EmbeddingModel.load(source, loadOptions(args, output));
    const hidden = await hiddenFrom(model);
    const top = await model.topK(hidden, Math.min(k, model.vocabSize), { precision });
    const out = args.value('out');
    if (out !== undefined) await writeNpy(out, await model.logits(hidden, { precision }));
    const result = { dims: top.dims, values: rowsOf(top.values, top), indices: rowsOf(top.indices, top) };
    output.result(result, () => {
      return `${showTop(top, model.tokens)}${out === undefined ? '' : `\nall scores written to ${out}`}`;
    });
  },
};

function hiddenSource(args: Arguments): (model: EmbeddingModel) => Promise<Tensor> {
  const words = args.list('ids');
  const file = args.value('hidden');
  if ((words === undefined) === (file === undefined)) throw new UsageError('give either --ids or --hidden');
  if (args.positionals.length > 1) throw new UsageError(`"${args.positionals[1]}" is one argument too many`);
  if (file !== undefined) return () => readNpy(file).then(atLeastOneRow);
  const ids = parseIds(words!);
  return (model) => model.lookup(ids);
}

function atLeastOneRow(tensor: Tensor): Tensor {
  return tensor.dims.length === 1 ? { ...tensor, dims: [1, ...tensor.dims] } : tensor;
}

function parsePrecision(name: string | undefined): Precision | undefined {
  if (name === undefined || name === 'high' || name === 'fast') return name;
  throw new UsageError(`--precision ${name} is neither high nor fast`);
}

function rowsOf(list: Float32Array | Int32Array, { dims }: TopK): number[][] {
  const k = dims.at(-1)!;
  return Array.from({ length: list.length / k }, (_, n) => Array.from(list.subarray(n * k, n * k + k)));
}

function showTop(top: TopK, tokens: TokenList | undefined): string {
  const k = top.dims.at(-1)!;
  const rows = Array.from(top.indices, (id, i) => [
    i % k === 0 ? `vector ${i / k}` : '',
    String(id),
    pieceOf(id, tokens),
    formatValue(top.values[i]!),
  ]);
  return `[${top.dims.join(', ')}]\n${alignColumns(rows, [1, 3])}`;
}
