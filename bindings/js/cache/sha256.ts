/**
 * SHA-256. Of a stream, Node's own hash is the fastest where it is there; WebCrypto digests whole buffers only, and is not
 * there in pages without https. What serves everywhere else is loaded when it is needed.
 */
import { lazy } from '../lazy.js';
import { hasFileSystem, nodeModule } from '../sources/node.js';

export interface Hasher {
  update(bytes: Uint8Array): unknown;
  /** The digest of what was added so far; more may be added afterwards. */
  peek(): Uint8Array;
}

export async function createHasher(): Promise<Hasher> {
  if (hasFileSystem()) {
    const { createHash } = await nodeModule<typeof import('node:crypto')>('node:crypto');
    const hash = createHash('sha256');
    return { update: (bytes) => hash.update(bytes), peek: () => new Uint8Array(hash.copy().digest()) };
  }
  const { sha256 } = await lazy('digests', () => import('./portable_sha256.js'));
  const hash = sha256.create();
  return { update: (bytes) => hash.update(bytes), peek: () => hash.clone().digest() };
}

export async function hexDigest(text: string): Promise<string> {
  const bytes = new TextEncoder().encode(text);
  return Array.from(await digest(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

async function digest(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const { subtle } = globalThis.crypto as Partial<Crypto>;
  if (subtle !== undefined) return new Uint8Array(await subtle.digest('SHA-256', bytes));
  const hasher = await createHasher();
  hasher.update(bytes);
  return hasher.peek();
}
