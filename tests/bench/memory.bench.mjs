/**
 * What a load takes beside its table, and how long it holds up its thread: files of 1, 100 and 500 MB (zeros, F16)
 * from a path, a Blob, a URL, and a URL whose bytes are put into the cache on their way, into this thread's memory and
 * into two workers. Each load is a process of its own; memory/load_once.mjs says what the columns mean. All but `table`
 * are above the table's size.
 *
 *   node tests/bench/memory.bench.mjs [--sizes 1,100,500] [--json]
 */
import { execFile } from 'node:child_process';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { ggufHeader } from './lib/gguf.mjs';
import { describeMachine } from './lib/machine.mjs';
import { serveFolder } from './memory/file_server.mjs';

const kDim = 512;
const kWarmRows = 128;
const kinds = ['path', 'Blob', 'URL', 'URL, cache'];
const residencies = ['memory', 'workers'];
const megabyte = 1 << 20;

/** A hole of the right size: zeros that take no room on the disk. */
async function writeModel(path, bytes) {
  const header = ggufHeader('F16', bytes / (2 * kDim), kDim);
  const file = await open(path, 'w');
  await file.write(header);
  await file.truncate(header.length + bytes);
  await file.close();
}

async function load(task, cacheFolder) {
  const script = join(import.meta.dirname, 'memory', 'load_once.mjs');
  const env = { ...process.env, ID2VEC_MODELS: cacheFolder, NODE_NO_WARNINGS: '1' };
  const { stdout } = await promisify(execFile)(process.execPath, [script, JSON.stringify(task)], { env });
  return { ...task, ...JSON.parse(stdout) };
}

function print({ kind, residency, table, heap, buffers, resident, pause, milliseconds }) {
  const megabytes = (bytes) => (bytes / megabyte).toFixed(1).padStart(10);
  console.log(
    `${kind.padEnd(12)}${residency.padEnd(9)}` +
      [table, heap - table, buffers, resident - table].map(megabytes).join('') +
      `${pause.toFixed(0).padStart(8)} ms${(milliseconds / 1000).toFixed(2).padStart(8)} s`,
  );
}

const { values } = parseArgs({
  options: { sizes: { type: 'string', default: '1,100,500' }, json: { type: 'boolean', default: false } },
  strict: false,
});
const folder = await mkdtemp(join(tmpdir(), 'id2vec-bench-'));
const server = await serveFolder(folder);
const results = [];
try {
  if (!values.json) {
    console.log(`${describeMachine()}\nMB above the table; longest pause of the loading thread`);
    console.log(
      `${' '.repeat(21)}${['table', 'heap', 'buffers', 'resident'].map((name) => name.padStart(10)).join('')}` +
        `${'pause'.padStart(11)}${'took'.padStart(10)}`,
    );
  }
  await writeModel(join(folder, 'warm.gguf'), kWarmRows * 2 * kDim);
  for (const size of values.sizes.split(',').map(Number)) {
    const name = `${size}.gguf`;
    await writeModel(join(folder, name), size * megabyte);
    for (const kind of kinds) {
      const place = kind.startsWith('URL') ? server.address : folder;
      const [from, warm] = [name, 'warm.gguf'].map((file) => `${place}/${file}`);
      for (const residency of residencies) {
        const cache = await mkdtemp(join(folder, 'cache-'));
        const result = await load({ kind, from, warm, residency }, cache);
        await rm(cache, { recursive: true, force: true });
        results.push({ size, ...result });
        if (!values.json) print(result);
      }
    }
  }
} finally {
  await server.close();
  await rm(folder, { recursive: true, force: true });
}
if (values.json) console.log(JSON.stringify({ machine: describeMachine(), results }, null, 1));
