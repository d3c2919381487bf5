import { EmbeddingError } from '../errors.js';

/** What is used of Node's `process`. */
interface Process {
  env: Record<string, string | undefined>;
  platform: string;
  getBuiltinModule?: (name: string) => unknown;
  versions?: { node?: string; bun?: string; deno?: string };
}

// Named plainly, `process` makes bundlers install a replacement for browsers.
export function nodeProcess(): Process | undefined {
  return (globalThis as { process?: Process }).process;
}

/** True where files can be opened by path: Node, Deno and Bun (not workerd, which only looks like Node). */
export function hasFileSystem(): boolean {
  const agent = (globalThis as { navigator?: { userAgent?: string } }).navigator?.userAgent;
  return nodeProcess()?.versions?.node !== undefined && agent !== 'Cloudflare-Workers';
}

/** True in Node itself, whose ways with memory are its own. */
export function isNode(): boolean {
  const { bun, deno } = nodeProcess()?.versions ?? {};
  return hasFileSystem() && bun === undefined && deno === undefined;
}

/**
 * One of Node's modules, without an import that a bundler for browsers would try to resolve.
 * @throws {EmbeddingError} `unsupported` where the runtime has no such module.
 */
export async function nodeModule<T>(name: string): Promise<T> {
  if (!hasFileSystem()) {
    throw new EmbeddingError(
      'unsupported',
      `This runtime has no ${name}: give a URL, a Blob or bytes instead of a path.`,
    );
  }
  const builtin = nodeProcess()?.getBuiltinModule?.(name);
  // Node before 20.16 has no getBuiltinModule. The variable keeps bundlers from following the import.
  return (builtin ?? (await import(/* @vite-ignore */ /* webpackIgnore: true */ name))) as T;
}
