import { existsSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { run } from '../lib/run.mjs';
import { tally } from './tally.mjs';

const report = 'build/reports/cpp.json';

export async function runGoogleTest() {
  if ((await run('bash', ['scripts/build-native.sh', 'id2vec_tests'], { tolerate: true })) !== 0)
    return tally(0, 1, 0);
  await rm(report, { force: true });
  const code = await run('build/native/id2vec_tests', ['--gtest_brief=1', `--gtest_output=json:${report}`], {
    tolerate: true,
    env: { ...process.env, UBSAN_OPTIONS: 'print_stacktrace=1', ASAN_SYMBOLIZER_PATH: symbolizer() },
  });
  // A sanitizer's finding ends the process before the report is written.
  if (!existsSync(report)) return tally(0, 1, 0);
  const counts = await readReport();
  return code !== 0 && counts.failed === 0 ? { ...counts, failed: 1 } : counts;
}

function symbolizer() {
  const found = '/usr/bin/llvm-symbolizer-19';
  return existsSync(found) ? found : '';
}

async function readReport() {
  const counts = tally(0, 0, 0);
  for (const suite of JSON.parse(await readFile(report, 'utf8')).testsuites) {
    for (const test of suite.testsuite) {
      if (test.failures) counts.failed++;
      else if (test.result === 'COMPLETED') counts.passed++;
      else counts.skipped++;
    }
  }
  return counts;
}
