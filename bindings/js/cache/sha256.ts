/** SHA-256 of a stream. WebCrypto digests whole buffers only; Node's own hash is the fastest where it is there. */
import { sha256 } from '@noble/hashes/sha2.js';
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
  const hash = sha256.create();
  return { update: (bytes) => hash.update(bytes), peek: () => hash.clone().digest() };
}

export async function hexDigest(text: string): Promise<string> {
  const hasher = await createHasher();
  hasher.update(new TextEncoder().encode(text));
  return Array.from(hasher.peek(), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
