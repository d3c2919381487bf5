// What a killed process or tab was doing: reads a whole file through the cache, and tells how far it is.
import { createHasher } from '../../../bindings/js/cache/sha256.js';
import { openCache } from '../../../bindings/js/cache/default.js';
import { openSource } from '../../../bindings/js/sources/open.js';

export interface Outcome {
  /** SHA-256 of all bytes, hexadecimal. */
  digest: string;
  /** Bytes of response bodies. */
  fetched: number;
  cached: number;
}

export async function download(
  url: string,
  folder: string | undefined,
  onBytes: (count: number) => void,
): Promise<Outcome> {
  const source = await openSource(url, { cache: openCache({ folder }) });
  const hasher = await createHasher();
  let count = 0;
  for await (const chunk of source.stream(0, await source.size())) {
    hasher.update(chunk);
    onBytes((count += chunk.length));
  }
  await source.close?.();
  const { bytes = 0, cached = 0 } = source.traffic ?? {};
  const digest = Array.from(hasher.peek(), (byte) => byte.toString(16).padStart(2, '0')).join('');
  return { digest, fetched: bytes, cached };
}
