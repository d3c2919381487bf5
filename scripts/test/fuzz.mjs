import { existsSync, readdirSync } from 'node:fs';
import { run } from '../lib/run.mjs';
import { check, sum, tally } from './tally.mjs';

const seconds = 5;

/** A few seconds for each target: enough to replay its seeds and to notice what breaks at once. */
export async function runFuzz() {
  if (!existsSync('tests/fuzz') || !readdirSync('tests/fuzz').some((file) => file.endsWith('_fuzz.cpp'))) {
    console.log('no fuzz targets');
    return tally(0, 0, 0);
  }
  if ((await run('bash', ['scripts/build-native.sh'], { tolerate: true })) !== 0) return tally(0, 1, 0);
  const tallies = [];
  for (const name of readdirSync('build/native/fuzz').sort()) {
    tallies.push(await check('bash', ['scripts/fuzz.sh', name, '--seconds', String(seconds)]));
  }
  return sum(tallies);
}
