/** What a benchmark ran on. */
import { cpus } from 'node:os';
import { describeEngine } from './engine.mjs';

/** `AMD EPYC, 2 processors` */
export function describeProcessor() {
  const [{ model }] = cpus();
  return `${model.trim()}, ${cpus().length} processors`;
}

/** `AMD EPYC, 2 processors; Node 24.1.0, V8 13.6, linux x64` */
export function describeMachine() {
  return `${describeProcessor()}; ${describeEngine()}`;
}
