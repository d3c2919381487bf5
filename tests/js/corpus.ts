// Files for tests, the same way in Node and in a browser.
//
//   describe.skipIf(!hasCorpus)('…', () => { const bytes = await corpusFile('gguf/stories260K.gguf'); … });
//
// The corpus is a folder of real model files that stands beside a checkout and is absent from a public clone.
import { inject } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    root: string;
    corpus: string;
  }
}

export const inBrowser = typeof document !== 'undefined';
export const hasCorpus = inject('corpus') !== '';

/** Absolute path (Node) or address (browser; Range requests work) of a corpus file. */
export function corpusPath(name: string): string {
  return locate(`${inject('corpus')}/${name}`);
}

/** The same for a file of the project, `models/…` for instance. */
export function projectPath(name: string): string {
  return locate(`${inject('root')}${name}`);
}

export function corpusFile(name: string): Promise<Uint8Array<ArrayBuffer>> {
  return read(corpusPath(name));
}

export function projectFile(name: string): Promise<Uint8Array<ArrayBuffer>> {
  return read(projectPath(name));
}

// Vite's development server hands out allowed folders under /@fs.
function locate(absolute: string): string {
  return inBrowser ? new URL(`/@fs${absolute}`, location.href).href : absolute;
}

async function read(where: string): Promise<Uint8Array<ArrayBuffer>> {
  if (!inBrowser) {
    const { readFile } = await import('node:fs/promises');
    return new Uint8Array(await readFile(where));
  }
  const response = await fetch(where, { cache: 'no-store' });
  if (!response.ok) throw new Error(`${where}: status ${response.status}`);
  return new Uint8Array(await response.arrayBuffer());
}
