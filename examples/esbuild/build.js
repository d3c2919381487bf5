// esbuild leaves `new URL('./x.wasm', import.meta.url)` as it is, so the files go beside the result; so does the file
// that threads run, for `residency: 'workers'`.
import { copyFile, readdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const dist = fileURLToPath(new URL('dist', import.meta.url));
await build({ entryPoints: ['page/main.js'], bundle: true, format: 'esm', target: 'es2022', outdir: dist });

const folder = dirname(fileURLToPath(import.meta.resolve('id2vec')));
for (const file of await readdir(folder)) {
  if (file.endsWith('.wasm') || file === 'worker.js') await copyFile(`${folder}/${file}`, `${dist}/${file}`);
}
