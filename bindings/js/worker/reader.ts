/** A worker's own reading of files: to the places of its rows, by recipes from the main thread. */
import type { Core } from '../core.js';
import { openRecipe } from '../sources/recipe.js';
import type { Recipe } from '../sources/recipe.js';
import { addTraffic } from '../sources/source.js';
import type { Source, Traffic } from '../sources/source.js';
import type { Plane } from '../table.js';
import type { Reading } from './protocol.js';

type Report = (bytes: number) => void;

/** Messages about progress are no more frequent than this. */
const kReportBytes = 1 << 18;

export class ShardReader {
  readonly #sources: Source[] = [];
  readonly #stop = new AbortController();

  open(recipe: Recipe): number {
    return this.#sources.push(openRecipe(recipe)) - 1;
  }

  async read(core: Core, { address }: Plane, reading: Reading, report: Report): Promise<void> {
    let at = address + reading.at;
    await this.#stream(reading, report, (chunk) => {
      core.memory.write(at, chunk);
      at += chunk.length;
      return chunk.length;
    });
  }

  async compare(core: Core, { address }: Plane, reading: Reading, report: Report): Promise<number> {
    let same = 0;
    await this.#stream(reading, report, (chunk) => {
      const equal = core.equalBytes(address + reading.at + same, chunk);
      same += equal;
      return equal;
    });
    return same;
  }

  async close(): Promise<Traffic> {
    const cost = { bytes: 0, requests: 0, retries: 0, cached: 0 };
    for (const source of this.#sources.splice(0)) {
      addTraffic(cost, source.traffic ?? {});
      await source.close?.();
    }
    return cost;
  }

  cancel(): void {
    this.#stop.abort();
  }

  /** Until `take` leaves something of a chunk. */
  async #stream(
    { source, offset, bytes }: Reading,
    report: Report,
    take: (chunk: Uint8Array) => number,
  ): Promise<void> {
    const { signal } = this.#stop;
    let unreported = 0;
    for await (const chunk of this.#sources[source]!.stream(offset, offset + bytes, { signal })) {
      const taken = take(chunk);
      unreported += taken;
      if (taken < chunk.length) break;
      if (unreported < kReportBytes) continue;
      report(unreported);
      unreported = 0;
    }
    if (unreported > 0) report(unreported);
  }
}
