/**
 * Measures here, or in a browser where `--browser` names one. What measures is a module of this folder that runs in
 * both and exports `results(options)`, an asynchronous generator of plain objects; who calls prints them.
 */
import { describeEngine } from './engine.mjs';

/** `begin` hears which engine it is, `take` gets each result as soon as it is there. */
export async function run(module, options, { begin, take }) {
  if (options.browser !== undefined) {
    const { runInBrowser } = await import('./browser.mjs');
    return runInBrowser(module, options, { begin, take });
  }
  begin(describeEngine());
  const { results } = await import(`./${module}.mjs`);
  for await (const result of results(options)) take(result);
}
