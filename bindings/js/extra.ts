/** What needs the second part of a common core's module, and code of its own: both are loaded when they are needed. */
import type { Core } from './core.js';
import { EmbeddingError } from './errors.js';
import type { Geometry } from './geometry.js';
import { lazy } from './lazy.js';
import type { TrainerOptions } from './training/options.js';
import type { Trainee, Trainer } from './training/trainer.js';

export async function geometryOf(core: Core): Promise<Geometry> {
  const [{ Geometry }, functions] = await Promise.all([
    lazy('geometry', () => import('./geometry.js')),
    core.allFunctions(),
  ]);
  return new Geometry(core, functions);
}

export type MakeTrainer = (trainee: Trainee, options: TrainerOptions) => Trainer;

/** For a table that may be trained, because `trainer` is synchronous. A failure waits for who trains. */
export async function prepareTraining(core: Core): Promise<MakeTrainer> {
  try {
    const [{ Trainer }, functions] = await Promise.all([
      lazy('training', () => import('./training/trainer.js')),
      core.allFunctions(),
    ]);
    return (trainee, options) => new Trainer(trainee, functions, options);
  } catch (cause) {
    return () => {
      const code = cause instanceof EmbeddingError ? cause.code : 'wasm';
      const reason = cause instanceof Error ? cause.message : String(cause);
      const message = `What trains could not be loaded (${reason}): load the model again.`;
      throw new EmbeddingError(code, message, { cause });
    };
  }
}
