/** What a benchmark ran on. */
import { cpus } from 'node:os';

/** `AMD EPYC, 2 processors, linux x64; Node 24.1.0, V8 13.6` */
export function describeMachine() {
  const { versions, arch, platform } = process;
  const [{ model }] = cpus();
  return `${model.trim()}, ${cpus().length} processors, ${platform} ${arch}; Node ${versions.node}, V8 ${versions.v8}`;
}
