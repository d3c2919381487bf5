// Starts the service worker, and notices when it has a newer version of the page at hand.
import { signal } from '@preact/signals';

/** `ready`: the page works without a network. `newer`: and a newer version waits. */
export const offline = signal<'no' | 'ready' | 'newer'>('no');

let waiting: ServiceWorker | undefined;

export async function keepOffline(): Promise<void> {
  // Only a built page has the list of its files; and not every window may keep something.
  if (import.meta.env.MODE !== 'production' || !('serviceWorker' in navigator)) return;
  try {
    const registration = await navigator.serviceWorker.register('./sw.js');
    watch(registration);
    await navigator.serviceWorker.ready;
    if (offline.value === 'no') offline.value = 'ready';
  } catch {
    offline.value = 'no';
  }
}

/** Changes to the waiting version; the page starts anew with it. */
export function changeVersion(): void {
  navigator.serviceWorker.addEventListener('controllerchange', () => location.reload(), { once: true });
  waiting?.postMessage('take over');
}

function watch(registration: ServiceWorkerRegistration): void {
  const notice = (worker: ServiceWorker | null) => {
    if (!worker) return;
    const check = () => {
      // Without an active one before it, it is the first and nothing waits.
      if (worker.state !== 'installed' || !registration.active) return;
      waiting = worker;
      offline.value = 'newer';
    };
    check();
    worker.addEventListener('statechange', check);
  };
  notice(registration.waiting);
  notice(registration.installing);
  registration.addEventListener('updatefound', () => notice(registration.installing));
}
