/** Loads the small tensors that surround a table: positions, norms, projections, biases, mappings. */
import { withCall } from './call.js';
import { EmbeddingError } from './errors.js';
import { factorRole, Factors } from './factors.js';
import type { Handle } from './handle.js';
import type { Loader } from './load.js';
import type { Opened, Plan, Role } from './open.js';
import { ModelStages } from './stages.js';
import { EmbeddingTable } from './table.js';

/** They stay tables, in the format of the file. */
const kTables = ['positions', 'token_types', 'projection', 'head_projection'];
/** They become floats. */
const kVectors = [
  'norm_weight',
  'norm_bias',
  'projection_bias',
  'head_projection_bias',
  'head_norm_weight',
  'head_norm_bias',
  'head_bias',
  'weights',
];
const kMapping = 'mapping';

/** A tensor that a stage uses, kept so that the model can be written again. */
export interface NamedTable {
  name: string;
  table: EmbeddingTable;
  /** A tensor of one dimension. */
  isVector: boolean;
}

/** Indices of the roles that the stages need. */
export function stageRoles(plan: Plan): number[] {
  const wanted = [...kTables, ...kVectors, kMapping];
  return plan.roles.flatMap(({ role }, index) => (wanted.includes(role) ? [index] : []));
}

export async function loadStages(
  opened: Opened,
  plan: Plan,
  loader: Loader,
  tables: { embedding: EmbeddingTable; head: EmbeddingTable; rows?: number },
): Promise<ModelStages> {
  const { core } = opened;
  const { makeStages, deleteStages, setTable, setVector } = core.functions;
  const handle = core.own(
    makeStages(opened.opener.address, tables.embedding.handle, tables.head.handle),
    deleteStages,
  );
  const own: EmbeddingTable[] = [];
  const others: NamedTable[] = [];
  try {
    for (const index of stageRoles(plan)) {
      const role = plan.roles[index]!;
      if (role.role === kMapping) {
        giveMapping(core, handle, toRows(await loader.bytes(index), role));
        continue;
      }
      const table = await loader.load(index);
      own.push(table);
      others.push({ name: role.name, table, isVector: role.rows === 1 });
      const set = kTables.includes(role.role) ? setTable : setVector;
      core.check(set(handle.address, role.role, table.handle));
    }
    const factor = factorRole(plan);
    const factors = factor && new Factors(core, handle, factor);
    return new ModelStages(core, handle, plan.profile, { ...tables, own, others, factors });
  } catch (error) {
    handle.delete();
    for (const table of own) table.dispose();
    throw error;
  }
}

/** The same where the tables live elsewhere: tables of one row stand for them, for their shape alone. */
export async function loadStagesAlone(
  opened: Opened,
  plan: Plan,
  loader: Loader,
  roles: { embedding: number; head: number },
): Promise<ModelStages> {
  const standIn = (index: number) => EmbeddingTable.allocate(opened.core, plan.roles[index]!.spec, 1);
  const embedding = standIn(roles.embedding);
  const head = standIn(roles.head);
  const { rows } = plan.roles[roles.embedding]!;
  const stages = await loadStages(opened, plan, loader, { embedding, head, rows });
  stages.own(embedding, head);
  return stages;
}

function giveMapping(core: Opened['core'], stages: Handle, rows: Uint32Array): void {
  withCall(core, [rows], [], (call) =>
    core.functions.setMapping(stages.address, call.give(rows), rows.length),
  );
}

/** Little-endian integers of any width as row numbers. */
function toRows(bytes: Uint8Array, role: Role): Uint32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const readers: Record<string, [width: number, read: (at: number) => number]> = {
    I64: [8, (at) => Number(view.getBigInt64(at, true))],
    U64: [8, (at) => Number(view.getBigUint64(at, true))],
    I32: [4, (at) => view.getInt32(at, true)],
    U32: [4, (at) => view.getUint32(at, true)],
    I16: [2, (at) => view.getInt16(at, true)],
    U16: [2, (at) => view.getUint16(at, true)],
  };
  const reader = readers[role.dtype];
  if (reader === undefined) {
    throw new EmbeddingError(
      'unsupported',
      `The mapping ${role.name} has dtype ${role.dtype}, which holds no row numbers.`,
    );
  }
  const [width, read] = reader;
  return Uint32Array.from({ length: bytes.length / width }, (_, i) => {
    const row = read(i * width);
    if (row >= 0 && row < 2 ** 32) return row;
    throw new EmbeddingError('malformed', `The mapping ${role.name} sends id ${i} to row ${row}.`);
  });
}
