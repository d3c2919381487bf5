import { defineConfig } from 'vite';

// Vite finds the .wasm files by itself. The base makes the result work in any folder.
export default defineConfig({
  root: 'page',
  base: './',
  build: { outDir: '../vite/dist', emptyOutDir: true, target: 'es2022' },
  // For `vite dev`: a package that finds files by import.meta.url must not be bundled beforehand.
  optimizeDeps: { exclude: ['id2vec'] },
});
