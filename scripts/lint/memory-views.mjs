// One TypeScript file makes views on wasm memory: a view that outlives a growth of the memory is detached.
import { findings, linesOf, report } from './files.mjs';

const only = /bindings[\\/]js[\\/]memory\.ts$/;
const touches = /\bHEAP(U?8|U?16|U?32|U?64|F32|F64|_DATA_VIEW)\b|\b(wasmMemory|memory)\.buffer\b/;

report(
  findings(
    linesOf('bindings/js', /\.ts$/).filter(({ path }) => !only.test(path)),
    (text) =>
      touches.test(text.replace(/\/\/.*|^\s*\*.*/, ''))
        ? 'only bindings/js/memory.ts may view wasm memory'
        : undefined,
  ),
);
