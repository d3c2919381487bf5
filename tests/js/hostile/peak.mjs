// node tests/js/hostile/peak.mjs files.json
//
// Loads every file of the list, all of which are refused, and prints by how many kilobytes the process has grown at its
// peak since the first few; a test runner's own memory would drown that.
import { readFileSync } from 'node:fs';
import { EmbeddingModel } from '../../../dist/index.js';

const cases = JSON.parse(readFileSync(process.argv[2], 'utf8')).map(({ root, files }) => {
  const all = new Map(files.map(([name, bytes]) => [name, Uint8Array.from(bytes)]));
  const open = (name) => {
    const bytes = all.get(name);
    return (
      bytes && {
        byteLength: bytes.length,
        slice: (from, to) => bytes.slice(from, to),
        name,
        sibling: open,
      }
    );
  };
  return open(root);
});

async function refuse(source) {
  try {
    (await EmbeddingModel.load(source)).dispose();
  } catch {
    return;
  }
  throw new Error('a hostile file was loaded');
}

for (let i = 0; i < 3; i++) await refuse(cases[i]);
const before = process.resourceUsage().maxRSS;
for (const source of cases) await refuse(source);
console.log(process.resourceUsage().maxRSS - before);
