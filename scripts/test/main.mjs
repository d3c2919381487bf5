// Runs the suites in order, all of them whatever fails, and ends with the line "N passed, N failed, N skipped".
//
//   cpp       GoogleTest on the native core under AddressSanitizer and UndefinedBehaviorSanitizer
//   node      Vitest in the Node that runs this
//   node24    Vitest in Node 24, which has relaxed SIMD (where the Node that runs this has not)
//   browsers  Vitest in Chromium, Firefox and WebKitGTK
//   package   what npm would publish, looked at by publint and attw
//   fuzz      libFuzzer, some seconds for each target
//   lint      see scripts/lint.sh
//   runtimes  examples/ in Node, Deno, Bun and workerd, and built by five bundlers; only when it is named, or with
//             --all, because it installs half a gigabyte first
import { mkdir } from 'node:fs/promises';
import { corpusNotice } from './corpus-notice.mjs';
import { runFuzz } from './fuzz.mjs';
import { runGoogleTest } from './google-test.mjs';
import { check, tally } from './tally.mjs';
import { runBrowsers, runNode, runNode24 } from './vitest.mjs';

const suites = {
  cpp: runGoogleTest,
  node: runNode,
  node24: runNode24,
  browsers: runBrowsers,
  package: () => check('bash', ['scripts/check-package.sh']),
  fuzz: runFuzz,
  lint: () => check('bash', ['scripts/lint.sh']),
  runtimes: runRuntimes,
};
const needBuild = ['node', 'node24', 'browsers', 'package', 'runtimes'];
const onlyOnRequest = ['runtimes'];

async function runRuntimes() {
  const { testPackage } = await import('../../tests/package/main.mjs');
  const { passed, failed } = await testPackage();
  return tally(passed, failed, 0);
}

const named = process.argv.slice(2).filter((word) => word !== '--all');
const usual = Object.keys(suites).filter((name) => !onlyOnRequest.includes(name));
const whole = process.argv.includes('--all') ? Object.keys(suites) : usual;
const wanted = named.length > 0 ? named : whole;
const unknown = wanted.filter((name) => !(name in suites));
if (unknown.length > 0) {
  console.error(`no suite named ${unknown.join(', ')}; there are ${Object.keys(suites).join(', ')}`);
  process.exit(2);
}

await mkdir('build/reports', { recursive: true });

const results = [];
async function runSuite(name, suite) {
  console.log(`\n=== ${name}`);
  const start = performance.now();
  const counts = await suite();
  results.push({ name, ...counts, seconds: (performance.now() - start) / 1000 });
  return counts.failed === 0;
}

// A build that fails is a failure like any other; the suites that need it are left out then.
const needed = wanted.some((name) => needBuild.includes(name));
const built = needed && (await runSuite('build', () => check('bash', ['scripts/build.sh'])));
for (const name of wanted) {
  if (built || !needBuild.includes(name)) await runSuite(name, suites[name]);
}

console.log();
const total = { passed: 0, failed: 0, skipped: 0 };
for (const { name, seconds, ...counts } of results) {
  for (const key of Object.keys(total)) total[key] += counts[key];
  const columns = Object.entries(counts).map(([key, count]) => `${String(count).padStart(5)} ${key}`);
  console.log(`${name.padEnd(9)} ${columns.join('  ')}  ${seconds.toFixed(1).padStart(6)} s`);
}
corpusNotice();
console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exit(total.failed === 0 ? 0 : 1);
