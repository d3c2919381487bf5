// Makes the page work without a network after its first visit: all its files are kept, those of a new version beside
// those of the old, until the person agrees to the change. Models from elsewhere are the package's own cache's matter.
import { addPlugins, cleanupOutdatedCaches, precacheAndRoute, type PrecacheEntry } from 'workbox-precaching';
import { RangeRequestsPlugin } from 'workbox-range-requests';

/** Written in by the build: every file of the page, relative to this script. */
declare const PRECACHED: PrecacheEntry[];

const worker = globalThis as unknown as {
  skipWaiting(): Promise<void>;
  clients: { claim(): Promise<void> };
};

// Model files are read in ranges.
addPlugins([new RangeRequestsPlugin()]);
precacheAndRoute(PRECACHED);
cleanupOutdatedCaches();

addEventListener('activate', (event) => {
  // The first visit, too, is served from here from now on: what is loaded later, like a worker, may come offline.
  (event as Event & { waitUntil(work: Promise<unknown>): void }).waitUntil(worker.clients.claim());
});

addEventListener('message', ({ data }: MessageEvent<unknown>) => {
  if (data === 'take over') void worker.skipWaiting();
});
