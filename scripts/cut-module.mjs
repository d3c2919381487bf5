// Cuts a linked WebAssembly module in two: the functions that only some of its object files define go into a part of
// their own, which can be loaded later and works on the first part's memory.
//
//   node scripts/cut-module.mjs MODULE FIRST SECOND SOURCES OBJECT…
//
// MODULE has its functions' names. SOURCES, with | between them, are parts of paths: which OBJECTs are of the second part.
// Data stays in the first. Both parts get a custom section "build", the hash of MODULE: parts of two builds do not fit, and
// nothing else would tell.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

// What the modules are compiled with. A table with holes, which the second part fills, is of the reference types.
const kFeatures = [
  '-mvp',
  '--enable-simd',
  '--enable-relaxed-simd',
  '--enable-bulk-memory',
  '--enable-nontrapping-float-to-int',
  '--enable-sign-ext',
  '--enable-mutable-globals',
  '--enable-reference-types',
];

const [module, first, second, sources, ...objects] = process.argv.slice(2);

function run(program, ...args) {
  return execFileSync(program, args, { encoding: 'utf8', maxBuffer: 1 << 28 });
}

function symbolsOf(...files) {
  return new Set(run('emnm', '--defined-only', '--format=just-symbols', ...files).split('\n'));
}

const paths = sources.split('|');
const lost = paths.find((path) => !objects.some((object) => object.includes(path)));
if (lost !== undefined) throw new Error(`no object file is of ${lost}, which the second part should have`);
const isSecond = (object) => paths.some((path) => object.includes(path));
const elsewhere = symbolsOf(...objects.filter((object) => !isSecond(object)));
const inModule = symbolsOf(module);
const moved = [...symbolsOf(...objects.filter(isSecond))].filter(
  (symbol) => symbol !== '' && inModule.has(symbol) && !elsewhere.has(symbol),
);
if (moved.length === 0) throw new Error(`${module}: no function is of the objects ${sources}`);

const binaryen = run('em-config', 'BINARYEN_ROOT').trim();
const build = createHash('sha256')
  .update(await readFile(module))
  .digest()
  .subarray(0, 8);
const folder = await mkdtemp(join(tmpdir(), 'cut-module-'));
try {
  const list = join(folder, 'functions');
  await writeFile(list, moved.join('\n'));
  const parts = { [first]: join(folder, 'first.wasm'), [second]: join(folder, 'second.wasm') };
  run(
    join(binaryen, 'bin/wasm-split'),
    ...kFeatures,
    ...[module, '--split-funcs', `@${list}`, '--no-placeholders', '--import-namespace', 'a'],
    ...['-o1', parts[first], '-o2', parts[second]],
  );
  for (const [to, from] of Object.entries(parts)) {
    run(join(binaryen, 'bin/wasm-opt'), ...kFeatures, '-Oz', from, '-o', to);
  }
} finally {
  await rm(folder, { recursive: true });
}

// A custom section: 0, its size, its name's length, its name, what it holds.
const name = Buffer.from('build');
const section = Buffer.from([0, 1 + name.length + build.length, name.length, ...name, ...build]);
for (const part of [first, second]) await writeFile(part, Buffer.concat([await readFile(part), section]));
