// webpack finds the .wasm files by itself.
export default {
  mode: 'production',
  entry: './page/main.js',
  output: { path: new URL('dist', import.meta.url).pathname, filename: 'main.js', clean: true },
  // main.js awaits at its top level, so it has to stay a module.
  experiments: { outputModule: true },
};
