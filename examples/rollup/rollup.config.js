import resolve from '@rollup/plugin-node-resolve';
import { importMetaAssets } from '@web/rollup-plugin-import-meta-assets';

export default {
  input: 'page/main.js',
  output: { dir: 'rollup/dist', format: 'es' },
  plugins: [resolve(), importMetaAssets()],
};
