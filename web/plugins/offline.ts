// After the page is built: bundles its service worker, with the list of all files that the page consists of.
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import type { Plugin, ResolvedConfig } from 'vite';

const kName = 'sw.js';
const kSource = fileURLToPath(new URL('../src/offline/service_worker.ts', import.meta.url));

interface PrecacheEntry {
  url: string;
  /** null where the name itself changes with the content. */
  revision: string | null;
}

export function offline(): Plugin {
  let config: ResolvedConfig;
  return {
    name: 'offline',
    apply: 'build',
    configResolved: (resolved) => void (config = resolved),
    writeBundle: {
      order: 'post',
      sequential: true,
      async handler() {
        const folder = resolve(config.root, config.build.outDir);
        await bundle(folder, await entries(folder, config.build.assetsDir));
      },
    },
  };
}

async function entries(folder: string, hashed: string): Promise<PrecacheEntry[]> {
  const files = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = files
    .filter((file) => file.isFile() && file.name !== kName && !file.name.endsWith('.map'))
    .map((file) => join(file.parentPath, file.name))
    .sort();
  return Promise.all(
    paths.map(async (path) => {
      const url = relative(folder, path).split(sep).join('/');
      return { url, revision: url.startsWith(`${hashed}/`) ? null : await digest(path) };
    }),
  );
}

const digest = async (path: string) =>
  createHash('sha256')
    .update(await readFile(path))
    .digest('hex')
    .slice(0, 16);

async function bundle(folder: string, precached: PrecacheEntry[]): Promise<void> {
  const build = await rolldown({
    input: kSource,
    platform: 'browser',
    transform: {
      define: {
        'process.env.NODE_ENV': JSON.stringify('production'),
        PRECACHED: JSON.stringify(precached),
      },
    },
  });
  // One classic script: service workers that are modules are still young in Firefox.
  await build.write({ file: join(folder, kName), format: 'iife', minify: true });
  await build.close();
}
