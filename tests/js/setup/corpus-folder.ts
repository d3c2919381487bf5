import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';

/** The folder of real model files beside the checkout, or '' where there is none (a public clone). */
export function corpusFolder(root: string): string {
  const folder = process.env.ID2VEC_CORPUS ?? join(root, '..', 'shared', 'corpus');
  return existsSync(folder) ? realpathSync(folder) : '';
}
