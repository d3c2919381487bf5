import { EmbeddingModel } from '../../model.js';
import type { PoolOptions } from '../../stage_types.js';
import { firstPositional, loadOptions, modelOptions, parseCount, UsageError } from '../command.js';
import type { Arguments, Command } from '../command.js';
import { writeNpy } from '../npy.js';
import { formatValue } from '../output.js';
import { idsFrom, textOptions } from '../token_ids.js';

const kShownValues = 12;

export const pool: Command = {
  name: 'pool',
  usage: 'SOURCE ID... [--mode mean] [--normalize] [--dimensions n]',
  summary: 'one vector for all the ids: mean, sum or greatest value per column',
  options: {
    mode: { kind: 'value', value: 'NAME', help: 'mean (default), sum or max' },
    normalize: { kind: 'flag', help: 'scale to unit length' },
    dimensions: { kind: 'value', value: 'N', help: 'keep the first N columns' },
    out: { kind: 'value', value: 'FILE', help: 'write the vector as a float32 npy file' },
    ...textOptions,
    ...modelOptions,
  },
  async run(args, output) {
    const source = firstPositional(args, 'SOURCE');
    const idsOf = idsFrom(args);
    const options = poolOptions(args);
    using model = await EmbeddingModel.load(source, loadOptions(args, output));
    const pooled = await model.pool(await idsOf(model, source), options);
    const out = args.value('out');
    if (out !== undefined) await writeNpy(out, pooled);
    output.result({ dims: pooled.dims, data: Array.from(pooled.data) }, () => {
      const shown = Array.from(pooled.data.subarray(0, kShownValues), formatValue).join('  ');
      const rest = pooled.data.length > kShownValues ? '  …' : '';
      return `[${pooled.dims.join(', ')}]\n${shown}${rest}${out === undefined ? '' : `\nwritten to ${out}`}`;
    });
  },
};

function poolOptions(args: Arguments): PoolOptions {
  const mode = args.value('mode') ?? 'mean';
  if (mode !== 'mean' && mode !== 'sum' && mode !== 'max') {
    throw new UsageError(`--mode ${mode} is none of mean, sum and max`);
  }
  const dimensions = args.value('dimensions');
  return {
    mode,
    // Without the flag the model's own setting holds.
    normalize: args.has('normalize') ? true : undefined,
    dimensions: dimensions === undefined ? undefined : parseCount('dimensions', dimensions),
  };
}
