// Bundles worker.js the way wrangler does (everything but the .wasm) and serves it with Miniflare.
import { copyFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { Miniflare } from 'miniflare';

const dist = fileURLToPath(new URL('dist', import.meta.url));
const wasm = 'id2vec/id2vec.simd128.wasm';
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
        onResolve({ filter: /\.wasm$/ }, () => ({ path: './id2vec.wasm', external: true }));
      },
    },
  ],
});
await copyFile(fileURLToPath(import.meta.resolve(wasm)), `${dist}/id2vec.wasm`);

const server = new Miniflare({
  rootPath: dist,
  compatibilityDate: '2026-04-01',
  modules: [
    { type: 'ESModule', path: 'worker.js' },
    { type: 'CompiledWasm', path: 'id2vec.wasm' },
  ],
  port: Number(process.env.PORT ?? 8787),
});
console.log(`worker at ${(await server.ready).href}`);
