/** A model in memory as a file again. The writers are in the full core, so what the file holds is copied there first. */
import type { Core } from './core.js';
import { EmbeddingError } from './errors.js';
import { pieceBytes } from './export.js';
import type { Piece } from './export.js';
import { createFullCore } from './full_core.js';
import type { FullCore } from './full_core.js';
import type { Handle } from './handle.js';
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
  origin: Handle,
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
  const said = { architecture, origin: packed(embedding.core, origin) };
  const core = await createFullCore(embedding.core.options);
  void embedding.handle; // throws where the model was disposed of meanwhile
  return withWriter(core, said, (writer) => {
    const copies: EmbeddingTable[] = [];
    try {
      for (const { name, table, isVector } of named) {
        const copy = copyInto(core, table);
        copies.push(copy);
        core.functions.addTable(writer.address, name, copy.handle, isVector);
      }
      core.check(core.functions.finishFile(writer.address, container === 'gguf'));
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
  origin: Handle,
): Promise<Uint8Array> {
  const said = { architecture, origin: packed(from, origin) };
  const core = await createFullCore(from.options);
  return withWriter(core, said, (writer) => {
    core.check(core.functions.finishHeader(writer.address, roles['embedding']!, vocabSize, dim));
    const [header] = core.answer<Piece[]>(core.functions.pieces(writer.address));
    return core.memory.bytes(header!.address, header!.bytes);
  });
}

interface Said {
  architecture: string;
  /** Packed. */
  origin: Uint8Array;
}

/** Taken before anything is waited for, since the model may be disposed of meanwhile. */
function packed(core: Core, origin: Handle): Uint8Array {
  const { packOrigin, dropPacked } = core.functions;
  const { address, bytes } = core.answer<{ address: number; bytes: number }>(packOrigin(origin.address));
  const copy = core.memory.bytes(address, bytes);
  dropPacked(origin.address);
  return copy;
}

function withWriter<T>(core: FullCore, { architecture, origin }: Said, use: (writer: Handle) => T): T {
  const { makeWriter, deleteWriter, setOrigin, setText } = core.functions;
  const writer = core.own(makeWriter(), deleteWriter);
  const address = core.memory.allocate(origin.length);
  try {
    core.memory.write(address, origin);
    core.check(setOrigin(writer.address, address, origin.length));
    if (architecture !== '') setText(writer.address, 'general.architecture', architecture);
    return use(writer);
  } finally {
    core.memory.release(address);
    writer.delete();
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
