import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

// With these two a page is cross-origin isolated. Nothing here needs that; it is served so that both worlds are seen.
const headers = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
};

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  base: './',
  // The page imports the package as its users do, from dist/.
  resolve: { alias: { id2vec: fileURLToPath(new URL('../dist/index.js', import.meta.url)) } },
  server: { headers },
  preview: { headers },
  build: { target: 'es2022' },
});
