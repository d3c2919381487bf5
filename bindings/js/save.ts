/** A model in memory as a file again. */
import type { Origin } from '../../build/wasm/id2vec.mjs';
import type { Core } from './core.js';
import { pieceBytes } from './export.js';
import type { Piece } from './export.js';
import { EmbeddingError } from './errors.js';
import type { ModelDescription } from './info.js';
import type { NamedTable } from './stage_loading.js';
import type { EmbeddingTable } from './table.js';

/** @internal All tensors that play a role, under their names, with metadata and vocabulary of where they come from. */
export function saveTables(
  {
    embedding,
    head,
    others,
  }: { embedding: EmbeddingTable; head: EmbeddingTable; others: readonly NamedTable[] },
  { architecture, roles }: ModelDescription,
  origin: Origin,
  container: 'gguf' | 'safetensors',
): Uint8Array<ArrayBuffer> {
  const { core } = embedding;
  if ('mapping' in roles) {
    throw new EmbeddingError(
      'unsupported',
      `The model maps ids to rows by ${roles['mapping']}, which holds whole numbers and cannot be written.`,
    );
  }
  const writer = origin.writer();
  try {
    if (architecture !== '') writer.setText('general.architecture', architecture);
    writer.add(roles['embedding']!, embedding.handle, false);
    if (head !== embedding) writer.add(roles['head']!, head.handle, false);
    for (const { name, table, isVector } of others) writer.add(name, table.handle, isVector);
    core.check(writer.finish(container === 'gguf'));
    return joined([...pieceBytes(core, writer)]);
  } finally {
    writer.delete();
  }
}

/** @internal The header of a GGUF file that holds the embedding as F32, with metadata and vocabulary. */
export function floatHeader(
  core: Core,
  { architecture, roles, vocabSize, dim }: ModelDescription,
  origin: Origin,
): Uint8Array {
  const writer = origin.writer();
  try {
    if (architecture !== '') writer.setText('general.architecture', architecture);
    core.check(writer.finishHeader(roles['embedding']!, vocabSize, dim));
    const [header] = writer.pieces() as Piece[];
    return core.memory.bytes(header!.address, header!.bytes);
  } finally {
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
