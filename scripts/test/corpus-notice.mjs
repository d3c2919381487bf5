import { existsSync } from 'node:fs';

/** Says so where the tests on real model files were skipped for want of the files. */
export function corpusNotice() {
  const folder = process.env.ID2VEC_CORPUS ?? '../shared/corpus';
  if (!existsSync(folder)) console.log(`no model files in ${folder}: the tests that read them were skipped`);
}
