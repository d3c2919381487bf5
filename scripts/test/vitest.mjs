import { existsSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { run } from '../lib/run.mjs';
import { sum, tally } from './tally.mjs';
import { withWebDriver } from './web-driver.mjs';

/** Runs Vitest projects with the given Node; counts from its JSON report. */
async function vitest(name, projects, { node = process.execPath, env = {}, prefix = [] } = {}) {
  const report = `build/reports/${name}.json`;
  await rm(report, { force: true });
  const [command, ...args] = [
    ...[...prefix, node, 'node_modules/vitest/vitest.mjs', 'run'],
    ...projects.flatMap((project) => ['--project', project]),
    ...['--reporter=default', '--reporter=json', `--outputFile.json=${report}`],
  ];
  const code = await run(command, args, { tolerate: true, env: { ...process.env, ...env } });
  if (!existsSync(report)) return tally(0, 1, 0);
  const { numPassedTests, numFailedTests, numPendingTests, numTodoTests } = JSON.parse(
    await readFile(report, 'utf8'),
  );
  // A file that cannot be imported, or an error outside of any test, fails the run without failing a test.
  const failed = code === 0 ? numFailedTests : Math.max(numFailedTests, 1);
  return tally(numPassedTests, failed, numPendingTests + numTodoTests);
}

export const runNode = () => vitest('node', ['node']);

/** The Node that scripts/setup.sh fetched for its relaxed SIMD. */
export async function runNode24() {
  const node = process.env.ID2VEC_NODE24;
  if (!node) {
    console.log('the running Node has relaxed SIMD, or no newer one is packaged for this platform');
    return tally(0, 0, 0);
  }
  return vitest('node24', ['node'], { node });
}

const playwrightBrowsers = { chromium: '/usr/bin/chromium', firefox: '/usr/bin/firefox-esr' };

export async function runBrowsers() {
  const present = Object.keys(playwrightBrowsers).filter((name) => existsSync(playwrightBrowsers[name]));
  const missing = Object.keys(playwrightBrowsers).filter((name) => !present.includes(name));
  if (missing.length > 0) console.log(`not installed, so not tested: ${missing.join(', ')}`);
  const tallies = [];
  if (present.length > 0) tallies.push(await vitest('browsers', present));
  if (existsSync('/usr/bin/WebKitWebDriver')) {
    tallies.push(await withWebDriver((env) => vitest('safari', ['safari'], { env })));
  } else console.log('not installed, so not tested: WebKitGTK');
  return sum(tallies);
}
