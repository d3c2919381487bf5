/**
 * Tables in another format, or of another size. The encoders are in the full core, so a table of another core is copied
 * there first.
 */
import { createFullCore } from './full_core.js';
import type { FullCore } from './full_core.js';
import { EmbeddingTable } from './table.js';

/** @internal A table in a full core of its own. */
export async function quantizeTable(table: EmbeddingTable, dtype: string): Promise<EmbeddingTable> {
  const core = await createFullCore(table.core.options);
  using copy = copyInto(core, table);
  return encodeTable(core, copy, dtype);
}

/** @internal A table of a full core, and its encoded twin in the same one. */
export function encodeTable(core: FullCore, table: EmbeddingTable, dtype: string): EmbeddingTable {
  const handle = core.own(core.functions.quantize(table.handle, dtype), core.functions.deleteTable);
  return new EmbeddingTable(core, handle, { rows: table.vocabSize, cols: table.dim, dtype });
}

/**
 * @internal A table of its own with another number of rows: those that both have keep their bytes, new ones are zeros or
 * the mean of all rows. With `asVector`, a table of one row gets another number of values.
 * @throws {EmbeddingError} `unsupported` where the format cannot hold the new rows
 */
export function resizeTable(
  core: FullCore,
  table: EmbeddingTable,
  size: number,
  { mean = false, asVector = false } = {},
): EmbeddingTable {
  const { resize, deleteTable } = core.functions;
  const handle = core.own(resize(table.handle, asVector, size, mean), deleteTable);
  const [rows, cols] = asVector ? [1, size] : [size, table.dim];
  return new EmbeddingTable(core, handle, { rows, cols, dtype: table.dtype });
}

/** @internal The same rows in the memory of another core. */
export function copyInto(core: FullCore, table: EmbeddingTable): EmbeddingTable {
  const copy = EmbeddingTable.allocate(core, table.spec, table.vocabSize);
  const targets = copy.planes;
  table.planes.forEach(({ address, bytes }, i) => {
    for (const [at, piece] of table.core.memory.pieces(address, bytes)) {
      core.memory.write(targets[i]!.address + at, piece);
    }
  });
  return copy;
}
