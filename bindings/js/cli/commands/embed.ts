import { EmbeddingModel } from '../../model.js';
import { firstPositional, loadOptions, modelOptions, UsageError } from '../command.js';
import type { Arguments, Command } from '../command.js';
import { writeNpy } from '../npy.js';
import { idsFrom, textOptions } from '../token_ids.js';
import { showRows } from './lookup.js';

export const embed: Command = {
  name: 'embed',
  usage: 'SOURCE ID... [--position-offset n] [--out x.npy]',
  summary: "the model's whole input stage: what its first layer receives",
  options: {
    'position-offset': { kind: 'value', value: 'N', help: 'tokens that came before these (default 0)' },
    out: { kind: 'value', value: 'FILE', help: 'write the vectors as a float32 npy file' },
    ...textOptions,
    ...modelOptions,
  },
  async run(args, output) {
    const source = firstPositional(args, 'SOURCE');
    const idsOf = idsFrom(args);
    const positionOffset = parseOffset(args);
    using model = await EmbeddingModel.load(source, loadOptions(args, output));
    const ids = await idsOf(model, source);
    const vectors = await model.embed(ids, { positionOffset });
    const out = args.value('out');
    if (out !== undefined) await writeNpy(out, vectors);
    output.result({ dims: vectors.dims, data: Array.from(vectors.data) }, () => {
      return `${showRows(ids, vectors, model.tokens)}${out === undefined ? '' : `\nwritten to ${out}`}`;
    });
  },
};

function parseOffset(args: Arguments): number {
  const word = args.value('position-offset') ?? '0';
  if (/^\d+$/.test(word)) return Number(word);
  throw new UsageError(`--position-offset ${word} is not a whole number of 0 or more`);
}
