/** A model in memory as a file again. */
import { pieceBytes, setVocabulary } from './export.js';
import type { ModelDescription } from './info.js';
import type { EmbeddingTable } from './table.js';
import type { TokenList } from './tokens.js';

const kNormal = 1;

/** @internal The tables under the names of their roles, with the architecture's name and the vocabulary. */
export function saveTables(
  { embedding, head }: { embedding: EmbeddingTable; head: EmbeddingTable },
  { architecture, roles }: ModelDescription,
  tokens: TokenList | undefined,
  container: 'gguf' | 'safetensors',
): Uint8Array<ArrayBuffer> {
  const { core } = embedding;
  const writer = new core.functions.Writer();
  try {
    if (architecture !== '') writer.setText('general.architecture', architecture);
    if (tokens !== undefined) {
      const pieces = Array.from({ length: tokens.length }, (_, id) => tokens.at(id));
      setVocabulary(core, writer, { pieces, types: pieces.map(() => kNormal) });
    }
    writer.add(roles['embedding']!, embedding.handle, false);
    if (head !== embedding) writer.add(roles['head']!, head.handle, false);
    core.check(writer.finish(container === 'gguf'));
    return joined([...pieceBytes(core, writer)]);
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
