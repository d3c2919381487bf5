// The models that the package keeps on this device.
import { signal } from '@preact/signals';
import { cache, type CachedFile } from 'id2vec';

export const kept = signal<CachedFile[]>([]);
/** Whether this window keeps anything. */
export const keeps = signal(true);

export async function refreshKept(): Promise<void> {
  keeps.value = (await cache.kind()) !== 'none';
  kept.value = await cache.list();
}

export async function forget(key: string): Promise<void> {
  await cache.delete(key);
  await refreshKept();
}

export async function forgetAll(): Promise<void> {
  await cache.clear();
  await refreshKept();
}
