/**
 * No table at all: rows are fetched when they are needed and kept in a bounded cache. A call works on a small table
 * that holds just its rows, so results are the same, bit for bit, as with the whole table in memory.
 */
import { checkIds } from '../arguments.js';
import { EmbeddingError } from '../errors.js';
import type { MemoryUse, RemoteUse } from '../info.js';
import type { Opened, Role } from '../open.js';
import type { Residency } from './residency.js';
import { InflatedSource } from '../sources/inflate.js';
import type {
  EmbedOptions,
  HeadLogitsOptions,
  HeadTopKOptions,
  NearestOptions,
  Neighbours,
  PoolOptions,
} from '../stage_types.js';
import type { ModelStages } from '../stages.js';
import { EmbeddingTable } from '../table.js';
import type { Ids, LookupOptions, Tensor, TopK } from '../types.js';
import { placesOf } from './places.js';
import { RowCache } from './row_cache.js';
import { RowFetcher } from './row_fetcher.js';
import { RowLayout } from './row_layout.js';

export interface RemoteOptions {
  /** Bytes of stored rows that are kept, for each table. Default 16 MiB. */
  cacheBytes?: number;
  /**
   * What a call does that needs every row (`nearest`, `analogy`; `logits` and `topK` without `ids`): `error`, the
   * default, rejects with code `remote`; `load` loads the whole table with the first such call, and keeps it.
   */
  whole?: 'error' | 'load';
}

/** @internal Index of the embedding's role in the plan, and of the head's (the same where they are tied). */
export interface RemoteRoles {
  embedding: number;
  head: number;
}

const kCacheBytes = 16 << 20;

/** The rows of one role. */
interface Rows {
  role: Role;
  layout: RowLayout;
  cache: RowCache;
  fetcher: RowFetcher;
}

/** @internal */
export class RemoteResidency implements Residency {
  readonly kind = 'remote';
  readonly #opened: Opened;
  readonly #options: RemoteOptions;
  readonly #loadWhole: (signal: AbortSignal) => Promise<Residency>;
  readonly #closed = new AbortController();
  readonly #embedding: Rows;
  readonly #head: Rows;
  #whole: Promise<Residency> | undefined;

  /**
   * Takes over `opened`.
   * @throws {EmbeddingError} `unsupported` where single rows cannot be read (transposed, compressed, in the header)
   */
  constructor(
    opened: Opened,
    allRoles: readonly Role[],
    roles: RemoteRoles,
    readonly stages: ModelStages,
    options: RemoteOptions,
    loadWhole: (signal: AbortSignal) => Promise<Residency>,
  ) {
    this.#opened = opened;
    this.#options = options;
    this.#loadWhole = loadWhole;
    this.#embedding = this.#rowsOf(allRoles, roles.embedding);
    this.#head = roles.head === roles.embedding ? this.#embedding : this.#rowsOf(allRoles, roles.head);
  }

  get tied(): boolean {
    return this.#head === this.#embedding;
  }

  get isa(): string {
    return this.#opened.core.isa;
  }

  get memory(): MemoryUse {
    return { embedding: 0, head: 0, heap: this.#opened.core.memory.size };
  }

  get remote(): RemoteUse {
    const caches = [...new Set([this.#embedding, this.#head])].map(({ cache }) => cache);
    const sum = (of: (cache: RowCache) => number) => caches.reduce((total, cache) => total + of(cache), 0);
    const { bytes = 0, requests = 0 } = this.#opened.files.root.traffic ?? {};
    return {
      hits: sum((cache) => cache.counts.hits),
      misses: sum((cache) => cache.counts.misses),
      cachedRows: sum((cache) => cache.rows),
      cachedBytes: sum((cache) => cache.bytes),
      fetchedBytes: bytes,
      requests,
    };
  }

  async lookup(ids: Ids, options: LookupOptions): Promise<Tensor> {
    const checked = checkIds(ids, this.#embedding.role.rows);
    const { data } = await this.#withRows(this.#embedding, checked.ids, (table, places) =>
      table.lookup(places, options),
    );
    return { data, dims: [...checked.dims, this.#embedding.role.cols] };
  }

  async embed(ids: Ids, options: EmbedOptions): Promise<Tensor> {
    const rows = await this.lookup(ids, {});
    return this.stages.embedRows(ids, rows.data, options);
  }

  async logits(hidden: Float32Array | Tensor, options: HeadLogitsOptions): Promise<Tensor> {
    if (options.ids === undefined) return (await this.#needWhole('logits', kGiveIds)).logits(hidden, options);
    const { ids } = checkIds(options.ids, this.#head.role.rows);
    return this.#withRows(this.#head, ids, (table, places) =>
      this.stages.withHead(table, inPlaces(ids, places), () =>
        this.stages.logits(hidden, this.#placed(options, ids, places)),
      ),
    );
  }

  async topK(hidden: Float32Array | Tensor, k: number, options: HeadTopKOptions): Promise<TopK> {
    if (options.ids === undefined) return (await this.#needWhole('topK', kGiveIds)).topK(hidden, k, options);
    const { rows } = this.#head.role;
    const { limit = this.stages.tokenizerSize(rows) } = options;
    // Ties go to the lower id, so the places must be in the order of the ids.
    const ids = checkIds(options.ids, rows)
      .ids.filter((id) => id < limit)
      .sort();
    return this.#withRows(this.#head, ids, (table, places) => {
      const idsOfPlaces = inPlaces(ids, places);
      const top = this.stages.withHead(table, idsOfPlaces, () =>
        this.stages.topK(hidden, k, this.#placed(options, ids, places)),
      );
      return { ...top, indices: top.indices.map((place) => idsOfPlaces[place] ?? -1) };
    });
  }

  async pool(ids: Ids, options: PoolOptions): Promise<Tensor> {
    const call = this.stages.checkPool(ids, options);
    return this.#withRows(this.#embedding, this.stages.rowsOf(call.ids), (table, places) =>
      this.stages.runPool(call, { table, places }),
    );
  }

  async nearest(query: number | Float32Array, k: number, options: NearestOptions): Promise<Neighbours> {
    return (await this.#needWhole('nearest')).nearest(query, k, options);
  }

  async analogy(positive: Ids, negative: Ids, k: number): Promise<Neighbours> {
    return (await this.#needWhole('analogy')).analogy(positive, negative, k);
  }

  /** Options in terms of a small table: ids become the places of their rows. */
  #placed<T extends HeadLogitsOptions>(options: T, ids: Uint32Array, places: Uint32Array): T {
    const { rows } = this.#head.role;
    const { limit = rows } = options;
    const forbidden = new Set(options.forbid === undefined ? [] : checkIds(options.forbid, rows).ids);
    const forbid = places.filter((_, i) => forbidden.has(ids[i]!) || ids[i]! >= limit);
    return { ...options, ids: places, forbid: [...new Set(forbid)], limit: undefined };
  }

  dispose(): void {
    this.#closed.abort(new EmbeddingError('disposed', 'This model was disposed of: load it again.'));
    void this.#whole?.then((whole) => whole.dispose()).catch(() => undefined);
    this.stages.dispose();
    this.#embedding.cache.clear();
    this.#head.cache.clear();
    this.#opened.opener.delete();
    void this.#opened.files.close();
  }

  #rowsOf(allRoles: readonly Role[], index: number): Rows {
    const role = allRoles[index]!;
    const source = (file: number) => this.#opened.source(file);
    const obstacle = obstacleTo(role, source);
    if (obstacle !== undefined) {
      throw new EmbeddingError(
        'unsupported',
        `Single rows of ${role.name} cannot be fetched, because it ${obstacle}: use residency "memory".`,
      );
    }
    const layout = new RowLayout(role.segments, role.rows);
    const cache = new RowCache(this.#options.cacheBytes ?? kCacheBytes);
    return {
      role,
      layout,
      cache,
      fetcher: new RowFetcher(layout, cache, source, this.#closed.signal),
    };
  }

  /** Calls `use` with a table of the rows of `ids`, and the place in it of each id. */
  async #withRows<T>(
    { role, layout, fetcher }: Rows,
    ids: Uint32Array,
    use: (table: EmbeddingTable, places: Uint32Array) => T,
  ): Promise<T> {
    const { unique, places } = placesOf(ids);
    const rows = await fetcher.rows(unique);
    this.#closed.signal.throwIfAborted();
    const { core } = this.#opened;
    // A table of no rows cannot be, but nothing may be asked for.
    const count = Math.max(rows.length, 1);
    const table = EmbeddingTable.allocate(core, role.spec, count);
    const { planes } = table;
    try {
      rows.forEach((row, place) => {
        let at = 0;
        layout.planeBytes.forEach((bytes, plane) => {
          core.memory.write(planes[plane]!.address + place * bytes, row.subarray(at, (at += bytes)));
        });
      });
      return use(table, places);
    } finally {
      table.dispose();
    }
  }

  async #needWhole(call: string, instead = ''): Promise<Residency> {
    if (this.#options.whole !== 'load') {
      const { rows, bytes } = (instead === '' ? this.#embedding : this.#head).role;
      throw new EmbeddingError(
        'remote',
        `${call} needs all ${rows} rows (${bytes} bytes): ${instead}load the model with residency "memory" or ` +
          `"workers", or with remote: { whole: "load" }.`,
      );
    }
    this.#closed.signal.throwIfAborted();
    this.#whole ??= this.#loadWhole(this.#closed.signal);
    try {
      return await this.#whole;
    } catch (error) {
      this.#whole = undefined; // the next call tries again
      throw error;
    }
  }
}

/** What spares a call the whole table. */
const kGiveIds = 'give it `ids`, ';

/** The id of each place. */
function inPlaces(ids: Uint32Array, places: Uint32Array): Uint32Array {
  const out = new Uint32Array(places.reduce((most, place) => Math.max(most, place + 1), 0));
  places.forEach((place, i) => (out[place] = ids[i]!));
  return out;
}

/** Why a row is no range of its own in the file; undefined where it is one. */
function obstacleTo(role: Role, source: (file: number) => unknown): string | undefined {
  if (role.segments.some(({ file }) => source(file) instanceof InflatedSource)) return 'is stored compressed';
  if (role.conversion === 'strided') return 'is stored in another order than row by row (strided)';
  if (role.conversion === 'zero-points') return 'has zero points that share bytes across rows';
  if (role.conversion === 'mxfp4') return 'has codes and exponents apart';
  if (role.spec.affine?.perTensor) return 'has one scale for all rows';
  if (role.inlineBytes > 0) return 'is stored in the header';
  return undefined;
}
