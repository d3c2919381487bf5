import { stat } from 'node:fs/promises';
import { readSync, openSync } from 'node:fs';
import { join, normalize } from 'node:path';
import type { VirtualFile } from './content.js';

/** A file of `folder` in the shape of the virtual ones; undefined where there is none. */
export async function diskFile(folder: string, name: string): Promise<VirtualFile | undefined> {
  const path = join(folder, normalize(`/${name}`));
  const status = folder ? await stat(path).catch(() => undefined) : undefined;
  if (!status?.isFile()) return undefined;
  const descriptor = descriptors.get(path) ?? openSync(path, 'r');
  descriptors.set(path, descriptor);
  return {
    size: status.size,
    fill(into, start) {
      readSync(descriptor, into, 0, into.length, start);
    },
  };
}

// A test run asks for few files, many times.
const descriptors = new Map<string, number>();
