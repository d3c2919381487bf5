import { run } from '../lib/run.mjs';

/** What a suite returns. */
export const tally = (passed, failed, skipped) => ({ passed, failed, skipped });

export const sum = (tallies) =>
  tallies.reduce(
    (total, each) =>
      tally(total.passed + each.passed, total.failed + each.failed, total.skipped + each.skipped),
    tally(0, 0, 0),
  );

/** A command that counts as one test. */
export async function check(command, args) {
  const code = await run(command, args, { tolerate: true });
  return code === 0 ? tally(1, 0, 0) : tally(0, 1, 0);
}
