import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Every file under `folder` whose name matches, with its lines. */
export function linesOf(folder, pattern) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true })
    .map((name) => join(folder, name))
    .filter((path) => pattern.test(path))
    .sort()
    .map((path) => ({ path, lines: readFileSync(path, 'utf8').split('\n') }));
}

/** Prints `path:line: what` for each finding and ends the process accordingly. */
export function report(findings) {
  for (const { path, line, what } of findings) console.error(`${path}:${line}: ${what}`);
  process.exit(findings.length === 0 ? 0 : 1);
}

/** One finding for each line for which `judge(text, path)` returns a sentence. */
export function findings(files, judge) {
  return files.flatMap(({ path, lines }) =>
    lines.flatMap((text, index) => {
      const what = judge(text, path);
      return what ? [{ path, line: index + 1, what }] : [];
    }),
  );
}
