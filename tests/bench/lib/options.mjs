/** What every benchmark can be told on its command line. */
import { parseArgs } from 'node:util';

const kFormats = 'F32,F16,BF16,Q8_0,Q4_0,Q4_1,Q5_0,Q5_1,Q4_K,Q5_K,Q6_K,IQ4_NL,MXFP4';

/** `defaults`: what a script takes where its caller says nothing. */
export function benchOptions(defaults = {}) {
  const { values } = parseArgs({
    options: {
      json: { type: 'boolean', default: false },
      formats: { type: 'string', default: defaults.formats ?? kFormats },
      isa: { type: 'string', default: defaults.isa ?? 'simd128,relaxed' },
      shape: { type: 'string', default: defaults.shape ?? '50257x768' },
      rounds: { type: 'string', default: defaults.rounds ?? '15' },
      clock: { type: 'string', default: 'wall' }, // on a busy machine "cpu": time that the process was given
      browser: { type: 'string' },
    },
    strict: false,
  });
  return {
    json: values.json,
    formats: values.formats,
    isas: values.isa.split(','),
    shapes: values.shape.split(',').map((shape) => shape.split('x').map(Number)),
    rounds: Number(values.rounds),
    // A page cannot ask how much time it was given.
    clock: values.browser === undefined ? values.clock : 'wall',
    browser: values.browser,
  };
}

/** What was measured how. `engine`: of whoever measures, see engine.mjs. */
export function describeRun({ clock, rounds }, engine) {
  return `${engine}; ${rounds} rounds, ${clock} clock`;
}
