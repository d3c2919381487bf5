/** What a benchmark ran on, and how much else ran there meanwhile. */
import { cpus } from 'node:os';

/** `AMD EPYC, 2 processors, linux x64; Node 24.1.0, V8 13.6` */
export function describeMachine() {
  const { versions, arch, platform } = process;
  const [{ model }] = cpus();
  return `${model.trim()}, ${cpus().length} processors, ${platform} ${arch}; Node ${versions.node}, V8 ${versions.v8}`;
}

/**
 * Starts watching; the function that it returns says how much of one processor other processes (children, too) had
 * since: 0.5 is half of one. Figures that were measured meanwhile are the worse, the higher it is.
 */
export function watchOthers() {
  const start = { busy: busyMilliseconds(), own: process.cpuUsage(), time: performance.now() };
  return () => {
    const own = process.cpuUsage(start.own);
    const others = busyMilliseconds() - start.busy - (own.user + own.system) / 1000;
    return Math.max(0, others) / (performance.now() - start.time);
  };
}

function busyMilliseconds() {
  return cpus().reduce((sum, { times }) => sum + times.user + times.nice + times.sys + times.irq, 0);
}
