// Measures away from the page's thread: the model that is shown, then a made-up table in several formats.
import { EmbeddingModel } from 'id2vec';

import type { Origin } from '../state';
import { measure, type Figures } from './measure';

export type Report = { figures: Figures } | { finished: true } | { problem: string };

const kShape = { vocabSize: 16384, dim: 768 };
const kFormats = ['F32', 'F16', 'Q8_0', 'Q4_0'];

addEventListener('message', ({ data }: MessageEvent<{ source: Origin['source']; title: string }>) => {
  run(data.source, data.title).then(
    () => report({ finished: true }),
    (error: Error) => report({ problem: error.message }),
  );
});

const report = (message: Report) => postMessage(message);

async function measureShown(source: Origin['source'], title: string): Promise<void> {
  using shown = await EmbeddingModel.load(source);
  // A head that cannot be read is none.
  report({ figures: await measure(title, shown.head ?? shown.table!) });
}

async function run(source: Origin['source'], title: string): Promise<void> {
  await measureShown(source, title);
  const made = await EmbeddingModel.create({ ...kShape, seed: 1 });
  for (const dtype of kFormats) {
    const table = dtype === 'F32' ? made.table! : await made.table!.quantize(dtype);
    report({ figures: await measure('made up', table) });
    if (table !== made.table) table.dispose();
  }
  made.dispose();
}
