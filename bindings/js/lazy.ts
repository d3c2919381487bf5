/** Parts of the package that are loaded when something first needs them, so that a page does not download them all. */
import { EmbeddingError } from './errors.js';

/**
 * A part, by its dynamic import, which stands at the call for bundlers to see.
 * @throws {EmbeddingError} `module` where the part cannot be loaded; the next call tries again
 */
export async function lazy<T>(part: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new EmbeddingError(
      'module',
      `The part of id2vec for ${part} cannot be loaded (${reason}): check that all its .js files are served.`,
      { cause },
    );
  }
}
