// Writes dist/: the bundled modules, their types, the wasm files; prints their sizes, and fails where they have grown
// beyond scripts/sizes.json.
//
//   index.js    Node and browsers          cli.js      the command id2vec
//   worker.js   self-contained, so that a page can start it from any address
//
// Modules that several entries share, and those that are imported when they are needed, become files beside them, in
// the same folder, because `new URL('./id2vec.….wasm', import.meta.url)` in the sources means a file in dist/.
import { chmod, copyFile, mkdir, rm } from 'node:fs/promises';
import { rolldown } from 'rolldown';
import { run } from './lib/run.mjs';
import { checkSizes, closure, printSizes } from './lib/sizes.mjs';

const entries = { index: 'bindings/js/index.ts', cli: 'bindings/js/cli/main.ts' };
const workers = { worker: 'bindings/js/worker.ts' };
const kinds = ['id2vec', 'id2vec.full'];
const wasmFiles = [...kinds, 'id2vec.extra'].flatMap((kind) => [
  `${kind}.simd128.wasm`,
  `${kind}.relaxed.wasm`,
]);

// Names of classes are what a person sees of an object on a console.
const names = { keepNames: { class: true, function: false } };

const options = {
  platform: 'neutral',
  external: /^node:/,
  transform: { target: 'es2022' }, // Node 20 has no `using`
  resolve: { extensionAlias: { '.js': ['.ts', '.js'] } },
};

/** The sources that importing `file` imports, dynamic imports aside. */
async function staticImports(file) {
  const build = await rolldown({ ...options, input: file });
  const { output } = await build.generate({ format: 'esm' });
  await build.close();
  const chunks = output.filter((chunk) => chunk.type === 'chunk');
  const needed = closure(chunks.find((chunk) => chunk.isEntry).fileName, chunks);
  return new Set(
    chunks.filter((chunk) => needed.includes(chunk.fileName)).flatMap((chunk) => chunk.moduleIds),
  );
}

/** `groups`: chunks by name, and which sources go into each. Returns the chunks written. */
async function bundle(input, { groups = [], plugins = [] }) {
  const build = await rolldown({ ...options, plugins, input });
  const { output } = await build.write({
    dir: 'dist',
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: '[name].js',
    codeSplitting: groups.length > 0 && { groups },
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
// What every page needs in one file, what the full core needs in another, and the rest as its importers have it.
const common = await staticImports(entries.index);
const isFull = /\/id2vec\.full\.mjs$|\/bindings\/js\/(full_core|quantize|save|export)\.ts$/;
const isHelper = /@oxc-project.runtime/;
const groups = [
  { name: 'shared', priority: 1, test: (id) => common.has(id) || isHelper.test(id) },
  { name: 'full', test: isFull },
  { name: 'extra', test: /\/bindings\/js\/(geometry|training\/(trainer|options))\.ts$/ },
  { name: 'verified', test: /\/sources\/verified\.ts$|@noble|portable_sha256/ },
];
// A worker has rows as they are, and is one file: bundlers refuse to split it. So nothing is there to encode tables.
const withoutEncoders = {
  name: 'without-encoders',
  resolveId: (id) => (id.endsWith('/quantize.js') ? '\0no encoders' : undefined),
  load: (id) => (id === '\0no encoders' ? 'export const quantizeTable = undefined;' : undefined),
};
const chunks = [
  ...(await bundle(entries, { groups })),
  ...(await bundle(workers, { plugins: [withoutEncoders] })),
];
for (const file of wasmFiles) {
  await copyFile(`build/wasm/${file}`, `dist/${file}`);
  await chmod(`dist/${file}`, 0o644); // the linker marks them executable
}
await chmod('dist/cli.js', 0o755);
await types;
// The package's types name the glue's by their place relative to the sources, so dist/types repeats the folders.
await mkdir('dist/types/build/wasm', { recursive: true });
for (const kind of kinds) {
  await copyFile(`build/wasm/${kind}.d.mts`, `dist/types/build/wasm/${kind}.d.mts`);
}
const downloads = await printSizes(chunks, wasmFiles);
await checkSizes(downloads, 'scripts/sizes.json');
