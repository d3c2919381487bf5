/** What a model is, told from its headers. */
import type { Core } from './core.js';
import type { DirectoryData, Opened, Plan, Profile, Role, TensorInfo } from './open.js';
import { factorRole } from './factors.js';
import { Loader } from './load.js';

/** The part of ModelInfo that does not depend on where the rows live. */
export interface ModelDescription {
  /** `GGUF`, `safetensors`, … */
  container: string;
  /** `llama`, `gpt2`, …; empty where the file does not say. */
  architecture: string;
  /** V, rows of the embedding table. */
  vocabSize: number;
  /** d, weights of a row. */
  dim: number;
  /** Format of the embedding table. */
  dtype: string;
  /** True if the head is the embedding table: absent from the file, or the same bytes. */
  tied: boolean;
  /** All tensors of the file, shapes row-major. */
  tensors: TensorInfo[];
  /** Role → name of the tensor that plays it. */
  roles: Record<string, string>;
  /** What the architecture does around its table. */
  profile: Profile;
  /** V · d. */
  parameters: number;
  /** Of the embedding table, as stored. */
  bytes: number;
  /** What the table costs: as it is, in every format, tied, factorized. */
  memoryBill: MemoryBill;
  /** Where the file contradicts itself, in sentences. */
  warnings: string[];
}

/** What V · d weights cost. Bytes include scales and other block metadata. */
export interface MemoryBill {
  /** V · d. */
  parameters: number;
  /** Of the embedding, and of the head where it is a table of its own. */
  bytes: number;
  /** Of the embedding. */
  bitsPerWeight: number;
  /** Embedding and head in all bytes of the file's tensors, 0 to 1. */
  shareOfFile: number;
  /** Bytes that a head of its own costs, or would cost. */
  savedByTying: number;
  /** Bytes of the embedding in each format that its width allows. */
  formats: { format: string; bytes: number }[];
  /** E ≈ A · B of rank k: V · k + k · d weights, at the bits per weight of now. */
  factorized: { rank: number; parameters: number; bytes: number }[];
  /** The first rank that saves nothing. */
  breakEvenRank: number;
}

/** Bytes in use. */
export interface MemoryUse {
  /** The embedding table. */
  embedding: number;
  /** The head; 0 where it is the embedding table. */
  head: number;
  /** All WebAssembly memory of the model. It includes the tables, and it never shrinks. */
  heap: number;
}

/** What fetching single rows has cost, and what the row cache saved. */
export interface RemoteUse {
  /** Rows that were found in the row cache. */
  hits: number;
  /** Rows that had to be fetched. */
  misses: number;
  cachedRows: number;
  cachedBytes: number;
  /** Bytes of response bodies since the model was opened, headers included; 0 for a local file. */
  fetchedBytes: number;
  requests: number;
}

/** What a load over the network has cost, in all threads. */
export interface LoadTraffic {
  /** Bytes of response bodies. */
  fetchedBytes: number;
  /** Bytes that came out of the cache instead. */
  cachedBytes: number;
  requests: number;
  /** Size of the files that hold the tensors which play a role. */
  fileBytes: number;
}

export interface ModelInfo extends ModelDescription {
  /** Where the rows live. */
  residency: 'memory' | 'workers' | 'remote';
  /** Set where rows are fetched when they are needed. */
  remote?: RemoteUse;
  /** What the load has cost, where the model came over the network. */
  traffic?: LoadTraffic;
  /** The instruction set in use. */
  isa: string;
  memory: MemoryUse;
}

/** `compared`: whether two tables that look alike were read to the first difference. */
export function describeModel(
  { core, directory }: Opened,
  plan: Plan,
  tied: boolean,
  compared = true,
): ModelDescription {
  const embedding = plan.roles[0]!;
  const roles = plan.roles.map(({ role, name }) => [role, name] as const);
  if (tied && !plan.roles.some(({ role }) => role === 'head')) roles.push(['head', embedding.name]);
  return {
    container: directory.container,
    architecture: plan.profile.architecture,
    vocabSize: embedding.rows,
    dim: factorRole(plan)?.rows ?? embedding.cols,
    dtype: embedding.dtype,
    tied,
    tensors: directory.tensors,
    roles: Object.fromEntries(roles),
    profile: plan.profile,
    parameters: embedding.rows * embedding.cols,
    bytes: embedding.bytes + embedding.inlineBytes,
    memoryBill: memoryBill(
      core,
      directory,
      embedding,
      tied ? undefined : plan.roles[roleIndex(plan, 'head')],
    ),
    warnings: [...directory.skipped, ...plan.warnings, ...(compared ? tyingWarnings(plan, tied) : [])],
  };
}

/** Two tables that look alike have been compared by now: see src/model/contradictions.h. */
function tyingWarnings({ tying, profile }: Plan, tied: boolean): string[] {
  if (tying !== 'compare' || tied || profile.tieWordEmbeddings !== 1) return [];
  return [
    'config.json says that head and embedding are tied, but the bytes of the two tables differ; the stored head is used',
  ];
}

function memoryBill(core: Core, { tensors }: DirectoryData, table: Role, head: Role | undefined): MemoryBill {
  const file = tensors.reduce((sum, { bytes }) => sum + bytes, 0);
  const { rows, cols, bytes } = table;
  return core.answer(core.functions.memoryBill(rows, cols, bytes, head?.bytes ?? 0, file));
}

/** Index of the role in the plan; −1 where no tensor plays it. */
export function roleIndex(plan: Plan, name: string): number {
  return plan.roles.findIndex(({ role }) => role === name);
}

const kComparedBytes = 8 << 20;

/**
 * Whether embedding and head are one. Where two tensors look alike, their bytes are compared, up to the first
 * difference; nothing is kept.
 */
export async function isTied(opened: Opened, plan: Plan, signal?: AbortSignal): Promise<boolean> {
  const index = roleIndex(plan, 'head');
  if (plan.tying === 'absent' || plan.tying === 'shared') return true;
  if (plan.tying === 'untied' || index < 0) return false;
  const [embedding, head] = [plan.roles[0]!, plan.roles[index]!];
  if (isPlain(embedding) && isPlain(head)) return equalPlain(opened, embedding, head, signal);
  const loader = new Loader(opened, plan.roles, [0, index], { signal });
  using table = await loader.load(0);
  using other = await loader.loadUnlessEqual(index, table);
  return other === table;
}

/** True where the bytes in the file are those in memory, in one piece. */
function isPlain(role: Role): boolean {
  return role.conversion === 'none' && role.segments.length === 1 && role.inlineBytes === 0;
}

async function equalPlain(opened: Opened, a: Role, b: Role, signal?: AbortSignal): Promise<boolean> {
  const { core } = opened;
  const address = core.memory.allocate(kComparedBytes);
  try {
    for (let at = 0; at < a.bytes; at += kComparedBytes) {
      const end = Math.min(at + kComparedBytes, a.bytes);
      const [left, right] = await Promise.all([a, b].map((role) => readPart(opened, role, at, end, signal)));
      core.memory.write(address, left!);
      if (core.equalBytes(address, right!) < end - at) return false;
    }
    return true;
  } finally {
    core.memory.release(address);
  }
}

function readPart(
  opened: Opened,
  role: Role,
  start: number,
  end: number,
  signal?: AbortSignal,
): Promise<Uint8Array> {
  const { file, offset } = role.segments[0]!;
  return opened.source(file).read(offset + start, offset + end, { signal });
}
