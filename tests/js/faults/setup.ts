// Vitest's globalSetup: starts the misbehaving server once for all projects, browsers included.
import type { TestProject } from 'vitest/node';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { corpusFolder } from '../setup/corpus-folder.js';
import { serve } from './server.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** Address of the misbehaving server, without a slash at its end. */
    faults: string;
    /** A folder that is removed after the run. */
    temporary: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const root = fileURLToPath(new URL('../../..', import.meta.url));
  const server = await serve([corpusFolder(root), join(root, 'dist')]);
  const temporary = await mkdtemp(join(tmpdir(), 'id2vec-test-'));
  // Loads that use the default cache leave nothing in the home folder.
  process.env.ID2VEC_MODELS = join(temporary, 'models');
  project.provide('faults', server.url);
  project.provide('temporary', temporary);
  return async () => {
    await server.close();
    await rm(temporary, { recursive: true, force: true, maxRetries: 5 });
  };
}
