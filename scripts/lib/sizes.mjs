import { readFile } from 'node:fs/promises';
import { brotliCompressSync } from 'node:zlib';

async function measure(file) {
  const bytes = await readFile(`dist/${file}`);
  return { raw: bytes.length, brotli: brotliCompressSync(bytes).length };
}

async function measureAll(files) {
  const sum = { raw: 0, brotli: 0 };
  for (const file of files) {
    const { raw, brotli } = await measure(file);
    sum.raw += raw;
    sum.brotli += brotli;
  }
  return sum;
}

/** The files that a static import of `file` loads, itself included. */
function closure(file, chunks) {
  const found = new Set([file]);
  for (const name of found) {
    for (const imported of chunks.find((chunk) => chunk.fileName === name)?.imports ?? []) {
      if (chunks.some((chunk) => chunk.fileName === imported)) found.add(imported);
    }
  }
  return [...found];
}

function printRow(name, { raw, brotli }) {
  console.log(`${name.padEnd(34)} ${String(raw).padStart(9)} ${String(brotli).padStart(9)}`);
}

/** Prints bytes, raw and after Brotli, of every file in dist and of what a page downloads. */
export async function printSizes(chunks, wasmFiles) {
  console.log(`${'dist'.padEnd(34)} ${'bytes'.padStart(9)} ${'brotli'.padStart(9)}`);
  for (const file of [...new Set([...chunks.map((chunk) => chunk.fileName), ...wasmFiles])]) {
    printRow(file, await measure(file));
  }
  if (!chunks.some((chunk) => chunk.fileName === 'index.js')) return;
  const script = closure('index.js', chunks);
  for (const wasm of wasmFiles) printRow(`index.js + ${wasm}`, await measureAll([...script, wasm]));
}
