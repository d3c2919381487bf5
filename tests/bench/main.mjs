/**
 * Runs the benchmarks of this folder, each in a process of its own:
 *
 *   npm run bench                                  all of them; they print tables
 *   npm run bench -- table latency --rounds 9      those that are named; options go to each
 *   npm run bench -- --browser chromium            in a browser, those that can: table and peers
 *   npm run bench -- --json                        one JSON object on stdout: what each measured, by name
 *   npm run bench -- --markdown docs/benchmarks.md [part…]
 *                                                  measures what that page holds (or those parts of it, the rest being
 *                                                  as it was last measured here) and writes it; --rounds 9 is its default
 */
import { execFile, spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { writePage } from './report.mjs';

const kInBrowsers = ['table', 'peers'];

const { values, positionals, tokens } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    markdown: { type: 'string' },
    browser: { type: 'string' },
    ...Object.fromEntries(
      ['formats', 'isa', 'shape', 'rounds', 'clock', 'sizes'].map((name) => [name, { type: 'string' }]),
    ),
  },
  allowPositionals: true,
  tokens: true,
});
const scripts = readdirSync(import.meta.dirname)
  .filter((name) => name.endsWith('.bench.mjs'))
  .map((name) => name.slice(0, -'.bench.mjs'.length));
const options = tokens.flatMap(({ kind, name, value }) =>
  kind === 'option' && name !== 'markdown' ? [`--${name}`, ...(value === undefined ? [] : [value])] : [],
);

const command = (script, args) => [join(import.meta.dirname, `${script}.bench.mjs`), ...args];

async function measured(script, args) {
  const all = { maxBuffer: 1 << 28 };
  const { stdout, stderr } = await promisify(execFile)(
    process.execPath,
    command(script, [...args, '--json']),
    all,
  );
  process.stderr.write(stderr);
  return JSON.parse(stdout);
}

async function print(script, args) {
  console.log(`=== ${script}`);
  const child = spawn(process.execPath, command(script, args), { stdio: 'inherit' });
  const code = await new Promise((resolve) => child.once('exit', resolve));
  if (code !== 0) process.exitCode = 1;
}

function wanted() {
  const unknown = positionals.filter((name) => !scripts.includes(name));
  if (unknown.length > 0)
    throw new Error(`no benchmark ${unknown.join(', ')}; there are ${scripts.join(', ')}`);
  const named = positionals.length > 0 ? positionals : scripts;
  return values.browser === undefined ? named : named.filter((name) => kInBrowsers.includes(name));
}

if (values.markdown !== undefined) {
  await writePage(values.markdown, positionals, (script, args) => measured(script, [...args, ...options]));
} else if (values.json) {
  const results = {};
  // Some have no other output than what they print.
  for (const name of wanted().filter((name) => !['pool', 'training'].includes(name))) {
    results[name] = await measured(name, options);
  }
  console.log(JSON.stringify(results, null, 1));
} else {
  for (const name of wanted()) await print(name, options);
}
