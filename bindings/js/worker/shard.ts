/** The worker's side: some rows of some tables, in a core of its own. */
import { Core } from '../core.js';
import { EmbeddingError } from '../errors.js';
import { Neighbourhood } from '../neighbours.js';
import { release } from '../sources/release.js';
import { EmbeddingTable } from '../table.js';
import type { Plane } from '../table.js';
import type { Isa } from '../wasm.js';
import type { Answer, Failure, Operation, Operations, Request } from './protocol.js';
import { ShardReader } from './reader.js';

type Handlers = { [O in Operation]: (request: never, report: (bytes: number) => void) => unknown };

/** Answers requests; what an answer owns is handed over, not copied. */
export class ShardServer {
  readonly #tables: EmbeddingTable[] = [];
  readonly #reader = new ShardReader();
  readonly #neighbourhoods = new Map<number, Neighbourhood>();
  #core: Core | undefined;

  constructor(private readonly send: (answer: Answer, transfer: ArrayBuffer[]) => void) {}

  async receive({ call, operation, request }: Request): Promise<void> {
    const handle = this.#handlers[operation] as (
      request: unknown,
      report: (bytes: number) => void,
    ) => unknown;
    try {
      const answer = await handle(request, (progress) => this.send({ call, progress }, []));
      this.send({ call, answer }, buffersOf(answer));
    } catch (error) {
      this.send({ call, failure: describeFailure(error) }, []);
    }
  }

  readonly #handlers: Handlers = {
    start: async ({ module, isa }: Parameters<Operations['start']>[0]) => {
      this.#core = await Core.create({ wasm: module, isa: isa as Isa });
    },
    create: ({ spec, rows }: Parameters<Operations['create']>[0]) => {
      return this.#tables.push(EmbeddingTable.allocate(this.#core!, spec, rows)) - 1;
    },
    copy: ({ table, spec }: Parameters<Operations['copy']>[0]) => {
      const from = this.#tables[table]!;
      const copy = EmbeddingTable.allocate(this.#core!, spec, from.vocabSize);
      copy.planes.forEach(({ address, bytes }, i) => {
        this.#core!.functions.copy(address, from.planes[i]!.address, bytes);
      });
      return this.#tables.push(copy) - 1;
    },
    write: ({ at, bytes, ...place }: Parameters<Operations['write']>[0]) => {
      this.#core!.memory.write(this.#planeOf(place).address + at, bytes);
      release(bytes);
    },
    holds: ({ at, bytes, ...place }: Parameters<Operations['holds']>[0]) => {
      const { address } = this.#planeOf(place);
      const { length } = bytes;
      const equal = this.#core!.equalBytes(address + at, bytes);
      release(bytes);
      return equal === length;
    },
    open: ({ recipe }: Parameters<Operations['open']>[0]) => this.#reader.open(recipe),
    read: (reading: Parameters<Operations['read']>[0], report) =>
      this.#reader.read(this.#core!, this.#planeOf(reading), reading, report),
    compare: (reading: Parameters<Operations['compare']>[0], report) =>
      this.#reader.compare(this.#core!, this.#planeOf(reading), reading, report),
    close: () => this.#reader.close(),
    cancel: () => this.#reader.cancel(),
    lookup: ({ table, ids }: Parameters<Operations['lookup']>[0]) => this.#tables[table]!.lookup(ids).data,
    logits: ({ table, hidden, ...options }: Parameters<Operations['logits']>[0]) => {
      return this.#tables[table]!.logits(hidden, options).data;
    },
    topK: ({ table, hidden, k, ...options }: Parameters<Operations['topK']>[0]) => {
      const { values, indices } = this.#tables[table]!.topK(hidden, k, options);
      return { values, indices };
    },
    nearest: ({ table, ...query }: Parameters<Operations['nearest']>[0]) => {
      let rows = this.#neighbourhoods.get(table);
      if (!rows) this.#neighbourhoods.set(table, (rows = new Neighbourhood(this.#tables[table]!)));
      return rows.nearest(query);
    },
    heapBytes: () => this.#core!.memory.size,
  };

  #planeOf({ table, plane }: { table: number; plane: number }): Plane {
    return this.#tables[table]!.planes[plane]!;
  }
}

function buffersOf(answer: unknown): ArrayBuffer[] {
  if (answer instanceof Float32Array) return [answer.buffer as ArrayBuffer];
  if (typeof answer !== 'object' || answer === null) return [];
  return Object.values(answer).flatMap((value) =>
    ArrayBuffer.isView(value) ? [value.buffer as ArrayBuffer] : [],
  );
}

function describeFailure(error: unknown): Failure {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof EmbeddingError) return { kind: 'EmbeddingError', code: error.code, message };
  const kind =
    error instanceof RangeError ? 'RangeError' : error instanceof TypeError ? 'TypeError' : undefined;
  return kind ? { kind, code: '', message } : { kind: 'EmbeddingError', code: 'worker', message };
}
