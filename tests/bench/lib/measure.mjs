/** Times of several things that take turns, so that a disturbance of the machine meets them all. */

/** What is timed at once takes at least so many milliseconds: clocks are coarse, those of browsers most of all. */
const kShortest = 0.5;
const kMostRepeats = 5000;

/**
 * @param things name → function, which may return a promise
 * @param options `rounds`; `clock` "wall", or "cpu": the time this process was given, for machines that are busy
 * @returns name → { median, minimum } in milliseconds
 */
export async function measure(things, { rounds, clock = 'wall' }) {
  const now = clock === 'cpu' ? cpuNow : () => performance.now();
  const repeats = new Map();
  for (const [name, thing] of Object.entries(things)) {
    await timeOf(thing, 1, now); // the engine compiles on first use
    const once = await timeOf(thing, 1, now);
    const times = once < kShortest ? Math.min(kMostRepeats, kShortest / Math.max(once, 1e-4)) : 1;
    repeats.set(name, Math.ceil(times));
  }
  const times = new Map(Object.keys(things).map((name) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const [name, thing] of Object.entries(things)) {
      times.get(name).push((await timeOf(thing, repeats.get(name), now)) / repeats.get(name));
    }
  }
  return summarize(times);
}

/**
 * The same for functions that return promises, by the time that passes until they settle. Each is called a few times in
 * a row, of which the first does not count: it finds the caches full of what the others needed.
 */
export async function measureCalls(calls, { rounds, inARow = 5 }) {
  const times = new Map(Object.keys(calls).map((name) => [name, []]));
  for (const call of Object.values(calls)) await call();
  for (let round = 0; round < Math.ceil(rounds / inARow); round++) {
    for (const [name, call] of Object.entries(calls)) {
      await call();
      for (let i = 0; i < inARow; i++) {
        const start = performance.now();
        await call();
        times.get(name).push(performance.now() - start);
      }
    }
  }
  return summarize(times);
}

function summarize(times) {
  const summary = {};
  for (const [name, list] of times) {
    list.sort((a, b) => a - b);
    summary[name] = { median: list[list.length >> 1], minimum: list[0] };
  }
  return summary;
}

async function timeOf(thing, repeats, now) {
  const start = now();
  for (let i = 0; i < repeats; i++) {
    const result = thing();
    if (result instanceof Promise) await result;
  }
  return now() - start;
}

function cpuNow() {
  const used = process.cpuUsage();
  return (used.user + used.system) / 1000;
}
