/** docs/benchmarks.md, from what the benchmarks measure. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describeProcessor } from './lib/machine.mjs';

const kKept = join(import.meta.dirname, '../../build/bench');
const kSomeFormats = 'F32,F16,Q8_0,Q4_0,Q4_K,Q6_K';
const kOtherShapes = '32000x2048,151936x896';

/**
 * Parts of the page: which script measures them, and how they are written. The machine may be busy, hence `--clock cpu`:
 * time that the process was given, of which a page in a browser knows nothing.
 */
const parts = {
  table: { script: 'table', args: '--rounds 9 --clock cpu', write: (run) => tables('Node', run) },
  chromium: {
    script: 'table',
    args: '--rounds 9 --browser chromium --isa relaxed',
    write: (run) => tables('Chromium', run),
  },
  shapes: {
    script: 'table',
    args: `--rounds 5 --clock cpu --isa relaxed --formats ${kSomeFormats} --shape ${kOtherShapes}`,
    write: shapes,
  },
  peers: { script: 'peers', args: '--rounds 9 --clock cpu', write: (run) => peers('Node', run) },
  'peers-chromium': {
    script: 'peers',
    args: '--rounds 5 --browser chromium',
    write: (run) => peers('Chromium', run),
  },
  latency: { script: 'latency', args: '', write: latency },
  workers: { script: 'workers', args: '--rounds 25 --formats F16,Q8_0,Q4_K', write: workers },
  memory: { script: 'memory', args: '', write: memory },
};

/**
 * @param names parts that are measured now, all where there are none; the others are as they were kept
 * @param measured runs a script and gives its JSON
 */
export async function writePage(path, names, measured) {
  const unknown = names.filter((name) => !(name in parts));
  if (unknown.length > 0) {
    throw new Error(`no part ${unknown.join(', ')}; there are ${Object.keys(parts).join(', ')}`);
  }
  await mkdir(kKept, { recursive: true });
  const sections = [];
  for (const [name, { script, args, write }] of Object.entries(parts)) {
    const file = join(kKept, `${name}.json`);
    if (names.length === 0 || names.includes(name)) {
      console.error(`measuring ${name}`);
      await writeFile(file, JSON.stringify(await measured(script, args === '' ? [] : args.split(' '))));
    }
    const kept = await readFile(file, 'utf8').catch(() => undefined);
    if (kept !== undefined) sections.push(write(JSON.parse(kept)));
  }
  await writeFile(path, `${[head(), ...sections].join('\n\n')}\n`);
}

function head() {
  return `# Benchmarks

This page is written by a program: \`npm run bench -- --markdown docs/benchmarks.md\`. What the figures mean, and why
they are as they are, stands in [performance.md](performance.md).

All of a row was measured in turns in one process, one thread where nothing else is said, on ${describeProcessor()}.
Milliseconds are medians (minimum in brackets); they depend on the machine and on what else it is doing, ratios much less.

- **read**, **copy**: reading the table's bytes by 128-bit loads, and copying as many bytes as a lookup of 4096 rows
  gives (\`memory.copy\`), both in WebAssembly. GB/s are bytes read or copied.
- **ratio**: time of reading ÷ time of the logits; time of copying ÷ time of the lookup. 1.00 is the speed of memory.`;
}

const ms = ({ median, minimum }) => `${median.toFixed(2)} (${minimum.toFixed(2)})`;
const speed = (bytes, { median }) => (bytes / median / 1e6).toFixed(1);
const bold = (ratio) => `**${ratio.toFixed(2)}**`;

/** `columns`: heads, the first ones (texts) to the left. */
function tableOf(columns, rows, texts = 1) {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  return [line(columns), line(columns.map((_, i) => (i < texts ? '---' : '---:'))), ...rows.map(line)].join(
    '\n',
  );
}

const titleOf = ({ rows, cols }) => `V = ${rows}, d = ${cols}`;

function tables(where, { run, results }) {
  const [first] = results;
  return `## ${where}: ${titleOf(first)}

${run}.

### Logits of one hidden vector

${logitsTable(results)}

### Logits of eight

${eightTable(results)}

### Lookup

${lookupTable(results)}`;
}

function logitsTable(results) {
  return tableOf(
    [
      'format',
      'isa',
      'MB',
      'read, ms',
      'GB/s',
      '`high`, ms',
      'GB/s',
      'ratio',
      '`fast`, ms',
      'GB/s',
      'ratio',
      'top 10 `fast`, ms',
    ],
    results.map(({ format, isa, bytes, times, ratios }) => [
      format,
      isa,
      (bytes / 1e6).toFixed(0),
      ms(times.read),
      speed(bytes, times.read),
      ...['high x1', 'fast x1'].flatMap((name) => [
        ms(times[name]),
        speed(bytes, times[name]),
        bold(ratios[name]),
      ]),
      ms(times['top10 x1']),
    ]),
    2,
  );
}

function eightTable(results) {
  return tableOf(
    ['format', 'isa', '`high`, ms', 'times N = 1', '`fast`, ms', 'times N = 1'],
    results.map(({ format, isa, times }) => [
      format,
      isa,
      ...['high', 'fast'].flatMap((precision) => {
        const [one, eight] = [times[`${precision} x1`], times[`${precision} x8`]];
        return [ms(eight), (eight.median / one.median).toFixed(1)];
      }),
    ]),
    2,
  );
}

function lookupTable(results) {
  return tableOf(
    ['format', 'isa', 'copy, ms', 'GB/s', '4096 rows, ms', 'GB/s', 'ratio', '7 rows, µs'],
    results.map(({ format, isa, outputBytes, times, ratios }) => [
      format,
      isa,
      ms(times.copy),
      speed(outputBytes, times.copy),
      ms(times['lookup x4096']),
      speed(outputBytes, times['lookup x4096']),
      bold(ratios['lookup x4096']),
      (1000 * times['lookup x7'].median).toFixed(1),
    ]),
    2,
  );
}

function shapes({ run, results }) {
  const row = ({ format, rows, cols, bytes, outputBytes, times, ratios }) => [
    `${rows} × ${cols}`,
    format,
    speed(bytes, times.read),
    ...['high x1', 'fast x1'].flatMap((name) => [ms(times[name]), bold(ratios[name])]),
    ms(times['high x8']),
    ms(times['fast x8']),
    speed(outputBytes, times.copy),
    ms(times['lookup x4096']),
    bold(ratios['lookup x4096']),
  ];
  const heads = [
    '`high`, ms',
    'ratio',
    '`fast`, ms',
    'ratio',
    'N = 8 `high`',
    'N = 8 `fast`',
    'copy, GB/s',
    '4096 rows, ms',
  ];
  return `## Node: other shapes

${run}; relaxed. K-quants need d to be a multiple of 256.

${tableOf(['V × d', 'format', 'read, GB/s', ...heads, 'ratio'], results.map(row), 2)}`;
}

const kPeers = { 'onnxruntime-web': 'ONNX Runtime Web', 'tfjs-backend-wasm': 'TensorFlow.js' };

function peers(where, { run, results }) {
  const [{ versions }] = results;
  const names = Object.keys(versions);
  const cell = (times, name) => {
    if (times[name] === undefined) return ['', '', ''];
    const { median } = times[name];
    const against = (own) => `${(median / times[own].median).toFixed(1)}×`;
    return [ms(times[name]), `**${against('id2vec')}**`, against('id2vec, new array')];
  };
  const list = names.map((name) => `${kPeers[name]} ${versions[name]}`).join(', ');
  const heads = ['in its memory', 'kept array', 'new array'].map((name) => `id2vec, ${name}`);
  return `## ${where}: beside ${list || 'others'}

${run}; ${titleOf(results[0])}, ${results[0].isa}.

One scale per 32 weights, one thread each. id2vec leaves results in its own memory (\`EmbeddingTable.allocate\`), copies
them to an array that is kept, or to a new one. ONNX Runtime hands out new arrays; TensorFlow.js leaves results in its own
memory, knows floats alone, and has its table transposed for logits. The ratios are to id2vec in its memory and with a
new array.

${tableOf(
  ['format', 'work', ...heads, ...names.flatMap((name) => [kPeers[name], 'ratio', 'ratio, new array'])],
  results.map(({ format, work, times }) => [
    format,
    work,
    ...['id2vec', 'id2vec, kept array', 'id2vec, new array'].map((name) => ms(times[name])),
    ...names.flatMap((name) => cell(times, name)),
  ]),
  2,
)}`;
}

function latency({ engine, results }) {
  const calls = Object.keys(results[0].beyond);
  return `## Latency: a lookup of seven ids

${engine}; µs, medians. The kernel's time is that of the core's own
function less the border, which is the same call with no ids; the others are what a call takes beyond the kernel.

${tableOf(
  ['format', 'kernel', 'border', ...calls],
  results.map(({ format, kernel, border, beyond }) => [
    format,
    kernel.toFixed(2),
    border.toFixed(2),
    ...calls.map((name) => `+ ${beyond[name].toFixed(2)}`),
  ]),
)}`;
}

function workers({ run, results }) {
  const row = ({ format, times }, what) => {
    const of = (where) => times[`${what}: ${where}`];
    const [one, two] = [of('one worker'), of('two workers')];
    return [
      format,
      what,
      ...[of('memory'), one, two].map((time) => (time ? ms(time) : '')),
      bold(one.median / two.median),
      (one.minimum / two.minimum).toFixed(2),
    ];
  };
  return `## Two workers

${run}; ${titleOf(results[0])}, relaxed. Tables that fit
into the processor's cache. The plain loop needs no memory: its speed-up is what the machine had to give meanwhile.

${tableOf(
  ['format', 'call', 'this thread', 'one worker', 'two workers', 'speed-up', 'of minimums'],
  results.flatMap((result) => result.calls.map((what) => row(result, what))),
  2,
)}`;
}

function memory({ machine, results }) {
  const megabytes = (bytes) => (bytes / (1 << 20)).toFixed(1);
  return `## Memory of a load, and pauses

${machine.split('; ')[1]}; MB beside the table. *heap*: WebAssembly memory of all threads;
*buffers*: ArrayBuffers outside of it, at most; *resident*: what the process grew by at most. *pause*: the longest time
for which the loading thread's event loop stood still.

${tableOf(
  ['file, MB', 'from', 'residency', 'heap', 'buffers', 'resident', 'pause, ms', 'took, s'],
  results.map(({ size, kind, residency, table, heap, buffers, resident, pause, milliseconds }) => [
    size,
    kind,
    residency,
    ...[heap - table, buffers, resident - table].map(megabytes),
    pause.toFixed(0),
    (milliseconds / 1000).toFixed(2),
  ]),
  3,
)}`;
}
