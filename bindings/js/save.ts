/** A model in memory as a file again. The writers are in the full core, so what the file holds is copied there first. */
import type { Origin } from '../../build/wasm/id2vec.mjs';
import type { Writer } from '../../build/wasm/id2vec.full.mjs';
import type { Core } from './core.js';
import { EmbeddingError } from './errors.js';
import { pieceBytes } from './export.js';
import type { Piece } from './export.js';
import { createFullCore } from './full_core.js';
import type { FullCore } from './full_core.js';
import type { ModelDescription } from './info.js';
import { copyInto } from './quantize.js';
import type { NamedTable } from './stage_loading.js';
import type { EmbeddingTable } from './table.js';

interface Tables {
  embedding: EmbeddingTable;
  head: EmbeddingTable;
  others: readonly NamedTable[];
}

/** @internal All tensors that play a role, under their names, with metadata and vocabulary of where they come from. */
export async function saveTables(
  { embedding, head, others }: Tables,
  { architecture, roles }: ModelDescription,
  origin: Origin,
  container: 'gguf' | 'safetensors',
): Promise<Uint8Array<ArrayBuffer>> {
  if ('mapping' in roles) {
    throw new EmbeddingError(
      'unsupported',
      `The model maps ids to rows by ${roles['mapping']}, which holds whole numbers and cannot be written.`,
    );
  }
  const named = [
    { name: roles['embedding']!, table: embedding, isVector: false },
    ...(head === embedding ? [] : [{ name: roles['head']!, table: head, isVector: false }]),
    ...others,
  ];
  const core = await createFullCore(embedding.core.options);
  void embedding.handle; // throws where the model was disposed of meanwhile
  return withWriter(core, { from: embedding.core, origin, architecture }, (writer) => {
    const copies: EmbeddingTable[] = [];
    try {
      for (const { name, table, isVector } of named) {
        const copy = copyInto(core, table);
        copies.push(copy);
        writer.add(name, copy.handle, isVector);
      }
      core.check(writer.finish(container === 'gguf'));
      return joined([...pieceBytes(core, writer)]);
    } finally {
      for (const copy of copies) copy.dispose();
    }
  });
}

/** @internal The header of a GGUF file that holds the embedding as F32, with metadata and vocabulary. */
export async function floatHeader(
  from: Core,
  { architecture, roles, vocabSize, dim }: ModelDescription,
  origin: Origin,
): Promise<Uint8Array> {
  const core = await createFullCore(from.options);
  return withWriter(core, { from, origin, architecture }, (writer) => {
    core.check(writer.finishHeader(roles['embedding']!, vocabSize, dim));
    const [header] = writer.pieces() as Piece[];
    return core.memory.bytes(header!.address, header!.bytes);
  });
}

interface Said {
  /** The core that `origin` belongs to. */
  from: Core;
  origin: Origin;
  architecture: string;
}

function withWriter<T>(core: FullCore, { from, origin, architecture }: Said, use: (writer: Writer) => T): T {
  if (origin.isDeleted()) {
    throw new EmbeddingError('disposed', 'This model was disposed of: load it again.');
  }
  const writer = new core.functions.Writer();
  try {
    giveOrigin(from, origin, core, writer);
    if (architecture !== '') writer.setText('general.architecture', architecture);
    return use(writer);
  } finally {
    writer.delete();
  }
}

function giveOrigin(from: Core, origin: Origin, core: FullCore, writer: Writer): void {
  origin.pack();
  const bytes = from.memory.bytes(origin.packed(), origin.packedBytes());
  origin.dropPacked();
  const address = core.memory.allocate(bytes.length);
  try {
    core.memory.write(address, bytes);
    core.check(writer.setOrigin(address, bytes.length));
  } finally {
    core.memory.release(address);
  }
}

function joined(pieces: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}
