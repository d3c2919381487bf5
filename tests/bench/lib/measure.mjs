/** Times of several things that take turns, so that a disturbance of the machine meets them all. */

/**
 * @param things name → function
 * @param options `rounds`; `clock` "wall", or "cpu": the time this process was given, for machines that are busy
 * @returns name → { median, minimum } in milliseconds
 */
export function measure(things, { rounds, clock = 'wall' }) {
  const time = clock === 'cpu' ? cpuTime : wallTime;
  const times = new Map(Object.keys(things).map((name) => [name, []]));
  for (const thing of Object.values(things)) thing(); // the engine compiles on first use
  for (let round = 0; round < rounds; round++) {
    for (const [name, thing] of Object.entries(things)) times.get(name).push(time(thing));
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

function wallTime(thing) {
  const start = performance.now();
  thing();
  return performance.now() - start;
}

function cpuTime(thing) {
  const start = process.cpuUsage();
  thing();
  const used = process.cpuUsage(start);
  return (used.user + used.system) / 1000;
}
