// One run, four projects: node, chromium, firefox, safari (which is WebKitGTK). Which files run where:
//   *.test.ts everywhere · *.node.test.ts in Node alone · *.browser.test.ts in browsers alone
// Tests import the built package by its name: `npm run build` comes first, `npm test` does it.
import { fileURLToPath } from 'node:url';
import { defineConfig, type TestProjectConfiguration } from 'vitest/config';
import type { BrowserInstanceOption } from 'vitest/node';
import { chromium, firefox, safari } from './tests/js/setup/browsers.js';
import { corpusFolder } from './tests/js/setup/corpus-folder.js';

const root = fileURLToPath(new URL('.', import.meta.url));
const corpus = corpusFolder(root);

const shared = {
  root,
  resolve: { alias: { id2vec: `${root}dist/index.js` } },
};
const tests = {
  include: ['tests/js/**/*.test.ts'],
  testTimeout: 20_000,
  provide: { root, corpus },
};

// SharedArrayBuffer needs these two; nothing of the package does, but tests of both worlds may.
const isolation = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
};

function browser(instance: BrowserInstanceOption, headless: boolean): TestProjectConfiguration {
  return {
    ...shared,
    // WebKitGTK has no `using` yet.
    oxc: { target: 'es2022' },
    server: { headers: isolation, fs: { allow: [root, ...(corpus ? [corpus] : [])] } },
    optimizeDeps: { exclude: ['id2vec'] },
    test: {
      ...tests,
      name: instance.browser,
      setupFiles: 'tests/js/setup/symbols.ts',
      exclude: ['**/*.node.test.ts'],
      browser: { enabled: true, headless, ui: false, screenshotFailures: false, instances: [instance] },
    },
  };
}

export default defineConfig({
  test: {
    globalSetup: 'tests/js/faults/setup.ts',
    projects: [
      { ...shared, test: { ...tests, name: 'node', environment: 'node', exclude: ['**/*.browser.test.ts'] } },
      browser({ browser: 'chromium', provider: chromium() }, true),
      browser({ browser: 'firefox', provider: firefox() }, true),
      browser({ browser: 'safari', provider: safari() }, false),
    ],
  },
});
