import type { Source } from './sources/source.js';

/** The files of one model by name: the one it was opened by, and those beside it. */
export class ModelFiles {
  readonly root: Source;
  readonly #siblings = new Map<string, Source>();

  constructor(root: Source) {
    this.root = root;
  }

  get(name: string): Source {
    if (name === this.root.name) return this.root;
    let source = this.#siblings.get(name);
    if (source === undefined) {
      source = this.root.sibling(name);
      this.#siblings.set(name, source);
    }
    return source;
  }

  /** Lets each source verify what was read (`integrity`). */
  async finish(signal?: AbortSignal): Promise<void> {
    for (const source of this.#all()) await source.finish?.(signal);
  }

  /** The content is unusable: nothing of it stays in a cache. */
  async discard(): Promise<void> {
    for (const source of this.#all()) await source.discard?.();
  }

  async close(): Promise<void> {
    for (const source of this.#all()) await source.close?.();
  }

  #all(): Source[] {
    return [this.root, ...this.#siblings.values()];
  }
}
