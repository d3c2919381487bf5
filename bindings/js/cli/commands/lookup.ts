import { EmbeddingModel } from '../../model.js';
import type { TokenList } from '../../tokens.js';
import type { Tensor } from '../../types.js';
import { firstPositional, loadOptions, modelOptions, parseIds } from '../command.js';
import type { Command } from '../command.js';
import { writeNpy } from '../npy.js';
import { alignColumns, formatValue } from '../output.js';

const kShownValues = 6;

export const lookup: Command = {
  name: 'lookup',
  usage: 'SOURCE ID... [--out x.npy]',
  summary: 'rows of the embedding table: [N, d]',
  options: {
    out: { kind: 'value', value: 'FILE', help: 'write the rows as a float32 npy file' },
    ...modelOptions,
  },
  async run(args, output) {
    const source = firstPositional(args, 'SOURCE');
    const ids = parseIds(args.positionals.slice(1));
    using model = await EmbeddingModel.load(source, loadOptions(args, output));
    const rows = await model.lookup(ids);
    const out = args.value('out');
    if (out !== undefined) await writeNpy(out, rows);
    output.result({ dims: rows.dims, data: Array.from(rows.data) }, () => {
      return `${showRows(ids, rows, model.tokens)}${out === undefined ? '' : `\nwritten to ${out}`}`;
    });
  },
};

/** One line per row: id, piece, first values. */
export function showRows(
  ids: readonly number[],
  { data, dims }: Tensor,
  tokens: TokenList | undefined,
): string {
  const dim = dims.at(-1)!;
  const shown = Math.min(dim, kShownValues);
  const rows = ids.map((id, i) => {
    const values = Array.from(data.subarray(i * dim, i * dim + shown), formatValue);
    return [String(id), pieceOf(id, tokens), ...values, shown < dim ? '…' : ''];
  });
  const right = [0, ...Array.from({ length: shown }, (_, i) => i + 2)];
  return `[${dims.join(', ')}]\n${alignColumns(rows, right)}`;
}

/** The piece of an id in quotes; empty where the file has none. */
export function pieceOf(id: number, tokens: TokenList | undefined): string {
  return tokens !== undefined && id < tokens.length ? JSON.stringify(tokens.at(id)) : '';
}
