// Bundles worker.js the way wrangler does (everything but the .wasm) and serves it with Miniflare.
import { copyFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { Miniflare } from 'miniflare';

const dist = fileURLToPath(new URL('dist', import.meta.url));
const modules = ['id2vec.simd128.wasm', 'id2vec.extra.simd128.wasm'];
await build({
  entryPoints: ['workerd/worker.js'],
  bundle: true,
  format: 'esm',
  target: 'es2022',
  outfile: `${dist}/worker.js`,
  external: ['node:*'],
  plugins: [
    {
      name: 'wasm',
      setup({ onResolve }) {
        onResolve({ filter: /\.wasm$/ }, ({ path }) => ({ path: `./${basename(path)}`, external: true }));
      },
    },
  ],
});
for (const name of modules) {
  await copyFile(fileURLToPath(import.meta.resolve(`id2vec/${name}`)), `${dist}/${name}`);
}

const server = new Miniflare({
  rootPath: dist,
  compatibilityDate: '2026-04-01',
  modules: [
    { type: 'ESModule', path: 'worker.js' },
    ...modules.map((path) => ({ type: 'CompiledWasm', path })),
  ],
  port: Number(process.env.PORT ?? 8787),
});
console.log(`worker at ${(await server.ready).href}`);
