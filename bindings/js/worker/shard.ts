/** The worker's side: some rows of some tables, in a core of its own. */
import { Core } from '../core.js';
import { EmbeddingError } from '../errors.js';
import { EmbeddingTable } from '../table.js';
import type { Isa } from '../wasm.js';
import type { Answer, Failure, Operation, Operations, Request } from './protocol.js';

type Handlers = { [O in Operation]: (request: never) => unknown };

/** Answers requests; what an answer owns is handed over, not copied. */
export class ShardServer {
  readonly #tables: EmbeddingTable[] = [];
  #core: Core | undefined;

  constructor(private readonly send: (answer: Answer, transfer: ArrayBuffer[]) => void) {}

  async receive({ call, operation, request }: Request): Promise<void> {
    try {
      const answer = await (this.#handlers[operation] as (request: unknown) => unknown)(request);
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
    write: ({ table, plane, at, bytes }: Parameters<Operations['write']>[0]) => {
      this.#core!.memory.write(this.#tables[table]!.planes[plane]!.address + at, bytes);
    },
    holds: ({ table, plane, at, bytes }: Parameters<Operations['holds']>[0]) => {
      const { address } = this.#tables[table]!.planes[plane]!;
      return this.#core!.equalBytes(address + at, bytes) === bytes.length;
    },
    lookup: ({ table, ids }: Parameters<Operations['lookup']>[0]) => this.#tables[table]!.lookup(ids).data,
    logits: ({ table, hidden, ...options }: Parameters<Operations['logits']>[0]) => {
      return this.#tables[table]!.logits(hidden, options).data;
    },
    topK: ({ table, hidden, k, ...options }: Parameters<Operations['topK']>[0]) => {
      const { values, indices } = this.#tables[table]!.topK(hidden, k, options);
      return { values, indices };
    },
    heapBytes: () => this.#core!.memory.size,
  };
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
