import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

import { offline } from './plugins/offline.ts';

// With these two a page is cross-origin isolated. Nothing here needs that; it is served so that both worlds are seen.
const headers = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
};

const folder = fileURLToPath(new URL('.', import.meta.url));

export default defineConfig({
  root: folder,
  base: './',
  // The page imports the package as its users do, from dist/.
  resolve: { alias: { id2vec: fileURLToPath(new URL('../dist/index.js', import.meta.url)) } },
  plugins: [offline()],
  assetsInclude: ['**/*.gguf'],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  worker: { format: 'es' },
  server: { headers, fs: { allow: [fileURLToPath(new URL('..', import.meta.url))] } },
  preview: { headers },
  build: { target: 'es2022', assetsInlineLimit: 0 },
});
