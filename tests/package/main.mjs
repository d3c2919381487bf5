// Runs the same ten lines in every runtime, and built by every bundler, with the package as npm would publish it;
// all must print the same vectors. Needs dist/.
import { deepStrictEqual } from 'node:assert';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bundlers, haveBrowser } from './bundlers.mjs';
import { install } from './install.mjs';
import { expected, modelFile } from './model.mjs';
import { runtimes } from './runtimes.mjs';
import { serve } from './server.mjs';

/** Returns { passed, failed }; `words`, if there are any, are the beginnings of the names of what is wanted. */
export async function testPackage(words = []) {
  const installed = await install();
  const server = await serve(installed.folder);
  const place = { ...installed, url: server.url };
  try {
    await writeFile(join(place.folder, 'model.safetensors'), modelFile());
    if (!haveBrowser) console.log('no Chromium: the bundlers are left out');
    const all = [...runtimes(place), ...(haveBrowser ? bundlers(place) : [])];
    const wanted = all.filter(([name]) => words.length === 0 || words.some((word) => name.startsWith(word)));
    let failed = 0;
    for (const [name, run] of wanted) failed += (await passes(name, run)) ? 0 : 1;
    return { passed: wanted.length - failed, failed };
  } finally {
    server.close();
    await rm(place.folder, { recursive: true, force: true });
  }
}

async function passes(name, run) {
  const start = performance.now();
  try {
    deepStrictEqual(JSON.parse(await run()), expected());
    console.log(`ok   ${name} (${((performance.now() - start) / 1000).toFixed(1)} s)`);
    return true;
  } catch (error) {
    console.log(`FAIL ${name}\n${error.stack}`);
    return false;
  }
}
