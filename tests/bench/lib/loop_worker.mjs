/**
 * What a second processor is worth just now: a loop of integers that needs no memory, by one thread or shared by two.
 * No call can gain more by a second worker.
 */
import { Worker, isMainThread, parentPort } from 'node:worker_threads';

const kTurns = 4e6; // some milliseconds
const kWarm = 10;

/** @returns { one, two, close }: functions that resolve when the loop has been run */
export async function loopWorkers() {
  const workers = [0, 1].map(() => new Worker(new URL(import.meta.url)));
  const run = (worker, turns) =>
    new Promise((resolve) => {
      worker.once('message', resolve);
      worker.postMessage(turns);
    });
  // Until each has compiled it well.
  for (let i = 0; i < kWarm; i++) await Promise.all(workers.map((worker) => run(worker, kTurns / 2)));
  return {
    one: () => run(workers[0], kTurns),
    two: () => Promise.all(workers.map((worker) => run(worker, kTurns / 2))),
    close: () => Promise.all(workers.map((worker) => worker.terminate())),
  };
}

// A function that is called often is compiled well; a long loop may stay as it began.
function thousandTurns(sum) {
  for (let i = 0; i < 1000; i++) sum = (Math.imul(sum, 1664525) + i) | 0;
  return sum;
}

if (!isMainThread) {
  parentPort.on('message', (turns) => {
    let sum = 0;
    for (let i = 0; i < turns; i += 1000) sum = thousandTurns(sum);
    parentPort.postMessage(sum);
  });
}
