import { readFile } from 'node:fs/promises';
import { brotliCompressSync } from 'node:zlib';

const measured = new Map();

/** Bytes of a file of dist, raw and after Brotli. */
async function measure(file) {
  if (!measured.has(file)) {
    const bytes = await readFile(`dist/${file}`);
    measured.set(file, { raw: bytes.length, brotli: brotliCompressSync(bytes).length });
  }
  return measured.get(file);
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
export function closure(file, chunks) {
  const found = new Set([file]);
  for (const name of found) {
    for (const imported of chunks.find((chunk) => chunk.fileName === name)?.imports ?? []) {
      if (chunks.some((chunk) => chunk.fileName === imported)) found.add(imported);
    }
  }
  return [...found];
}

/** What a page downloads for the first of its calls that needs it, beyond what it has by then: { name, files }. */
function downloadsOf(chunks) {
  const start = new Set(closure('index.js', chunks));
  const later = (name, entry, ...others) => ({
    name,
    files: [entry, ...others].flatMap((file) => closure(file, chunks).filter((found) => !start.has(found))),
  });
  const extra = 'id2vec.extra.relaxed.wasm';
  const full = ['id2vec.full.relaxed.wasm'];
  return [
    { name: 'a quantized GGUF (relaxed SIMD)', files: [...start, 'id2vec.relaxed.wasm'] },
    { name: 'a quantized GGUF (SIMD)', files: [...start, 'id2vec.simd128.wasm'] },
    { name: '+ safetensors', files: [extra] },
    later('+ geometry, F32', 'geometry.js', extra),
    later('+ PyTorch, ONNX, npy', 'full_core.js', ...full),
    later('+ quantize', 'quantize.js', ...full),
    later('+ save', 'save.js', ...full),
    later('+ integrity', 'verified.js'),
    later('+ residency "remote"', 'remote.js', 'ranges.js'),
    later('+ residency "workers"', 'workers.js', 'worker.js'),
  ];
}

function printRow(name, { raw, brotli }, note = '') {
  console.log(
    `${name.padEnd(32)} ${String(raw).padStart(9)} ${String(brotli).padStart(9)}  ${note}`.trimEnd(),
  );
}

function printHead(name) {
  console.log(`${name.padEnd(32)} ${'bytes'.padStart(9)} ${'brotli'.padStart(9)}`);
}

/**
 * Prints bytes, raw and after Brotli, of every file in dist, and of what is downloaded when.
 * @returns the downloads: [{ name, brotli }]
 */
export async function printSizes(chunks, wasmFiles) {
  printHead('file of dist');
  for (const file of [...new Set([...chunks.map((chunk) => chunk.fileName), ...wasmFiles])]) {
    printRow(file, await measure(file));
  }
  console.log();
  printHead('downloaded for');
  const downloads = [];
  for (const { name, files } of downloadsOf(chunks)) {
    const size = await measureAll(files);
    printRow(name, size, files.join(' '));
    downloads.push({ name, ...size });
  }
  return downloads;
}

/** @throws where a download is larger than the checked-in number, or one of the two is missing */
export async function checkSizes(downloads, file) {
  const budget = JSON.parse(await readFile(file, 'utf8'));
  for (const { name, brotli } of downloads) {
    const most = budget[name];
    if (most === undefined)
      throw new Error(`${file} has no number for "${name}", which is ${brotli} bytes after Brotli`);
    if (brotli > most) {
      throw new Error(
        `"${name}" is ${brotli} bytes after Brotli and may be ${most}: make it smaller, or raise the number in ${file} and say why`,
      );
    }
  }
  const gone = Object.keys(budget).find((name) => downloads.every((download) => download.name !== name));
  if (gone !== undefined)
    throw new Error(`${file} has a number for "${gone}", which is no download any more`);
}
