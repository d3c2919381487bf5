// What tests need of the misbehaving server; runs in browsers, too.
import { inject } from 'vitest';
import type { Stats } from './server.js';

let last = 0;

export interface Place {
  url: string;
  stats(): Promise<Stats>;
  /** Resolves once no response of this place is open any more; fails after two seconds. */
  closed(): Promise<void>;
}

/** A server of its own, which can be stopped. */
export async function startServer(): Promise<{ base: string; stop(): Promise<void> }> {
  const base = await (await fetch(`${inject('faults')}/start`)).text();
  const { port } = new URL(base);
  return { base, stop: async () => void (await fetch(`${inject('faults')}/stop/${port}`)) };
}

/** A file under an address of its own, served with the named behaviour. */
export function place(behaviour: string, file: string, base = inject('faults')): Place {
  const id = `${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}-${(last += 1)}`;
  const stats = async () => (await (await fetch(`${inject('faults')}/stats/${id}`)).json()) as Stats;
  return {
    url: `${base}/${id}/${behaviour}/${file}`,
    stats,
    async closed() {
      for (let i = 0; i < 100; i += 1) {
        if ((await stats()).open === 0) return;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      throw new Error(`requests are still open: ${JSON.stringify(await stats())}`);
    },
  };
}
