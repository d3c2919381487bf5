// Where the bytes of `npm run build` are: the sections of the relaxed module, and the sources of shared.js. Of each part,
// what Brotli makes of it alone or, for sources, what the whole is smaller by without it.
//
//   node scripts/size-parts.mjs
import { readFile } from 'node:fs/promises';
import { SourceMap } from 'node:module';
import { brotliCompressSync } from 'node:zlib';

const kSections = {
  0: 'custom',
  1: 'types',
  2: 'imports',
  3: 'signatures',
  7: 'exports',
  9: 'table',
  10: 'code',
  11: 'data',
};

const brotli = (bytes) => brotliCompressSync(bytes).length;

function print(rows) {
  for (const [name, bytes, compressed] of rows.sort((a, b) => b[2] - a[2])) {
    console.log(`${name.padEnd(44)} ${String(bytes).padStart(8)} ${String(compressed).padStart(8)}`);
  }
  console.log();
}

/** @returns rows [name, bytes, brotli] */
function sectionsOf(wasm) {
  const rows = [];
  for (let at = 8; at < wasm.length;) {
    const id = wasm[at++];
    let size = 0;
    let shift = 0;
    do size += (wasm[at] & 0x7f) << (7 * shift++);
    while (wasm[at++] & 0x80);
    const section = wasm.subarray(at, (at += size));
    if (size > 100) rows.push([kSections[id] ?? `section ${id}`, size, brotli(section)]);
  }
  return rows;
}

/** The pieces of a bundle by the source that they come from. */
function piecesOf(code, map) {
  const pieces = new Map();
  const origin = new SourceMap(map);
  code.split('\n').forEach((line, row) => {
    for (let column = 0; column < line.length; column += 1) {
      const { originalSource = 'none' } = origin.findEntry(row, column);
      pieces.set(originalSource, (pieces.get(originalSource) ?? '') + line[column]);
    }
  });
  return pieces;
}

function sourcesOf(code, map) {
  const pieces = piecesOf(code, map);
  const whole = brotli([...pieces.values()].join(''));
  return [...pieces].map(([source, piece]) => {
    const rest = [...pieces].filter(([other]) => other !== source).map(([, other]) => other);
    return [source.replace(/^(\.\.\/)+/, ''), piece.length, whole - brotli(rest.join(''))];
  });
}

print(sectionsOf(await readFile('dist/id2vec.relaxed.wasm')));
const map = JSON.parse(await readFile('dist/shared.js.map', 'utf8'));
print(sourcesOf(await readFile('dist/shared.js', 'utf8'), map));
