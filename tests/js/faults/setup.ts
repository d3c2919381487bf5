// Vitest's globalSetup: starts the misbehaving server once for all projects, browsers included.
import type { TestProject } from 'vitest/node';
import { fileURLToPath } from 'node:url';
import { corpusFolder } from '../setup/corpus-folder.js';
import { serve } from './server.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** Address of the misbehaving server, without a slash at its end. */
    faults: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await serve(corpusFolder(fileURLToPath(new URL('../../..', import.meta.url))));
  project.provide('faults', server.url);
  return () => server.close();
}
