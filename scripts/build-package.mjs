// Writes dist/: the bundled modules, their types, the two wasm files; prints their sizes.
//
//   index.js    Node and browsers          cli.js      the command id2vec
//   worker.js   self-contained, so that a page can start it from any address
//
// Modules that several entries share become files beside them, in the same folder, because
// `new URL('./id2vec.….wasm', import.meta.url)` in the sources means a file in dist/.
import { chmod, copyFile, mkdir, rm } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { rolldown } from 'rolldown';
import { run } from './lib/run.mjs';
import { printSizes } from './lib/sizes.mjs';

const entries = { index: 'bindings/js/index.ts', cli: 'bindings/js/cli/main.ts' };
const workers = { worker: 'bindings/js/worker.ts' };
const wasmFiles = ['id2vec.simd128.wasm', 'id2vec.relaxed.wasm', 'id2vec.eigen.wasm'];

// Names of classes are what a person sees of an object on a console.
const names = { keepNames: { class: true, function: false } };

/** Bundles those of the entries that exist; returns the chunks written. */
async function bundle(candidates) {
  const input = Object.fromEntries(Object.entries(candidates).filter(([, file]) => existsSync(file)));
  if (Object.keys(input).length === 0) return [];
  const build = await rolldown({
    input,
    platform: 'neutral',
    external: /^node:/,
    transform: { target: 'es2022' }, // Node 20 has no `using`
    resolve: { extensionAlias: { '.js': ['.ts', '.js'] } },
  });
  const { output } = await build.write({
    dir: 'dist',
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: (chunk) => (chunk.isDynamicEntry ? '[name].js' : 'shared.js'),
    minify: { compress: names, mangle: names, codegen: true },
    sourcemap: true,
  });
  await build.close();
  return output.filter((file) => file.type === 'chunk');
}

await rm('dist', { recursive: true, force: true });
await mkdir('dist', { recursive: true });
// The compiler complains on stdout, which is for the sizes alone here.
const types = run('node', ['node_modules/typescript/bin/tsc', '--project', 'tsconfig.types.json'], {
  stdio: ['ignore', process.stderr, 'inherit'],
});
const chunks = [...(await bundle(entries)), ...(await bundle(workers))];
for (const file of wasmFiles) {
  await copyFile(`build/wasm/${file}`, `dist/${file}`);
  await chmod(`dist/${file}`, 0o644); // the linker marks them executable
}
if (existsSync('dist/cli.js')) await chmod('dist/cli.js', 0o755);
await types;
// The package's types name the glue's by their place relative to the sources, so dist/types repeats the folders.
await mkdir('dist/types/build/wasm', { recursive: true });
await copyFile('build/wasm/id2vec.d.mts', 'dist/types/build/wasm/id2vec.d.mts');
await printSizes(chunks, wasmFiles);
