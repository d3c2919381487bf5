/**
 * Headers: drives the core's sans-io readers. The core says which range of which file it wants next; this file
 * fetches it, puts it into the core's memory, and asks again.
 */
import { Core } from './core.js';
import { EmbeddingError } from './errors.js';
import { ModelFiles } from './files.js';
import type { Handle } from './handle.js';
import type { LoadTraffic } from './info.js';
import { lazy } from './lazy.js';
import { isAbsent } from './sources/checks.js';
import { InflatedSource } from './sources/inflate.js';
import type { Source } from './sources/source.js';
import type { WasmOptions } from './wasm.js';

/** How far a load has come. */
export interface Progress {
  /** Bytes read. */
  loaded: number;
  /** Bytes to read in this phase; 0 while headers are read, because nobody knows before. */
  total: number;
  /** `header`, then the role of the tensor that is being read: `embedding`, `head`, … */
  phase: string;
}

export interface OpenOptions extends WasmOptions {
  /**
   * Name of the tensor that is the embedding table, instead of what the file's names suggest. `per_layer` stands for the
   * second table of Gemma 3n, [V, layers · width]: lookup gives its rows, embed the rows × √width.
   */
  tensor?: string;
  /** Name of the tensor that is the head. */
  head?: string;
  /** Overrides what is known of the architecture; `architecture` itself chooses another family's rules. */
  profile?: Partial<Profile>;
  signal?: AbortSignal;
  onProgress?: (progress: Progress) => void;
}

/** Where bytes of a table lie: files[file][offset, offset + bytes) → plane `plane` at `target`. */
export interface Segment {
  file: number;
  offset: number;
  bytes: number;
  plane: number;
  target: number;
}

/** @internal What a table is, but for its rows. */
export interface TableSpec {
  dtype: string;
  cols: number;
  /** Of formats with scales of their own. */
  affine?: AffineSpec;
}

/** @internal */
export interface AffineSpec {
  groupSize: number;
  scaleType: number;
  offsets: number;
  isSigned: boolean;
  /** All rows share the scales of one. */
  perTensor: boolean;
  zeroPoint: number;
  scaleFactor: number;
}

/** A tensor that plays a role. */
export interface Role {
  role: string;
  name: string;
  dtype: string;
  rows: number;
  cols: number;
  spec: TableSpec;
  /**
   * `strided`: stored in another order than row by row, and put in order while it comes in. `zero-points`: the same for
   * the plane of zero points, whose rows share bytes. `mxfp4`: codes and exponents lie apart.
   */
  conversion: 'none' | 'strided' | 'zero-points' | 'mxfp4';
  /** To be read. */
  bytes: number;
  /** That stood in the header. */
  inlineBytes: number;
  segments: Segment[];
}

/** One tensor of a file, shape row-major. */
export interface TensorInfo {
  name: string;
  dtype: string;
  shape: number[];
  /** The file that holds it; null where its elements stand in the header. */
  file: string | null;
  offset: number;
  bytes: number;
}

/** Of an array too long to be kept (merges, precompiled tables) only the length is told. */
export type MetadataValue = boolean | number | string | number[] | string[] | { length: number };

/** @internal What a container's header says. */
export interface DirectoryData {
  container: string;
  files: string[];
  tensors: TensorInfo[];
  skipped: string[];
  metadata: [string, MetadataValue][];
}

/** What an architecture does around its table. The core has one list of these; the names are its own. */
export interface Profile {
  /** As the file names it: `llama`, `gpt2`, … */
  architecture: string;
  /** The family whose rules apply; empty where no family claims the name. */
  family: string;
  /** × on the rows. */
  embeddingScale: number;
  positions: 'none' | 'learned' | 'sinusoidal-interleaved' | 'sinusoidal-halves';
  positionIds: 'sequential' | 'cumulative-mask' | 'skip-padding';
  /** Added to every position before the table of positions is read. */
  positionOffset: number;
  norm: 'none' | 'layer-norm' | 'rms-norm';
  normEpsilon: number;
  /** The projection of a factorized embedding comes before positions and norm. */
  projectionFirst: boolean;
  /** The head goes through the embedding's own projection. */
  headThroughProjection: boolean;
  /** × on the hidden vector before the head. */
  hiddenScale: number;
  headActivation: 'none' | 'gelu' | 'gelu-tanh' | 'relu';
  headNorm: 'none' | 'layer-norm' | 'rms-norm';
  /** × on the dot product. */
  logitScale: number;
  /** c in c · tanh(z / c); 0: none. */
  softcap: number;
  /** × on the rows of a second, per-layer table. */
  perLayerScale: number;
  /** Static embeddings: unit length after pooling. */
  normalize: boolean;
  /** −1: none. */
  paddingId: number;
  bosId: number;
  eosId: number;
  unknownId: number;
  /** Tokens of the tokenizer; 0 where the file does not say. */
  vocabularySize: number;
  /** What config.json says: 1, 0, or −1 where it is silent. */
  tieWordEmbeddings: number;
}

export interface Plan {
  roles: Role[];
  profile: Profile;
  tying: 'absent' | 'shared' | 'compare' | 'untied';
  /** Why the head, which is a tensor of its own, cannot be read; empty where that is not so. */
  headProblem: string;
  warnings: string[];
}

interface Want {
  file: string;
  offset: number;
  length: number;
  suggested: number;
  optional: boolean;
}

/** @throws {EmbeddingError} `unsupported` where the file's head cannot be read: the embedding must not stand in for it */
export function checkHead({ headProblem }: Pick<Plan, 'headProblem'>): void {
  if (headProblem !== '') throw new EmbeddingError('unsupported', headProblem);
}

/** A core whose opener has read the headers of one model. */
export class Opened<C extends Core = Core> {
  constructor(
    readonly core: C,
    readonly opener: Handle,
    readonly files: ModelFiles,
    readonly directory: DirectoryData,
  ) {}

  /** One of the directory's files. */
  source(file: number): Source {
    return sourceOf(this, this.directory.files[file]!);
  }

  plan(): Plan {
    return this.core.answer(this.core.functions.plan(this.opener.address));
  }

  /** Metadata and vocabulary, which are not needed here once the plan is made; the caller owns them. */
  takeOrigin(): Handle {
    const { takeOrigin, deleteOrigin } = this.core.functions;
    return this.core.own(takeOrigin(this.opener.address), deleteOrigin);
  }

  /** What the network and the cache gave so far; undefined where nothing came from there. */
  async traffic(signal?: AbortSignal): Promise<LoadTraffic | undefined> {
    const { traffic } = this.files.root;
    if (!traffic || traffic.bytes + traffic.cached === 0) return undefined;
    const { bytes, cached, requests } = traffic;
    // Not all that the headers name: nobody has asked for a file that holds none of the tables.
    const indices = this.plan().roles.flatMap(({ segments }) => segments.map(({ file }) => file));
    const names = new Set(
      indices.map((index) => {
        const name = this.directory.files[index]!;
        return deflatedIn(this, name)?.archive ?? name;
      }),
    );
    const sizes = await Promise.all([...names].map((name) => this.files.get(name).size(signal)));
    const fileBytes = sizes.reduce((sum, size) => sum + size, 0);
    return { fetchedBytes: bytes, cachedBytes: cached, requests, fileBytes };
  }
}

/** Reads the headers, resolves roles and applies the caller's profile; reads no weight. */
export async function openModel(source: Source, options: OpenOptions): Promise<Opened> {
  return withProfile(await open(source, options, openStep), options);
}

/** The same with a core of the caller's. */
export async function openModelWith<C extends Core>(
  core: C,
  source: Source,
  options: OpenOptions,
): Promise<Opened<C>> {
  return withProfile(await openWith(core, new ModelFiles(source), options, openStep), options);
}

const openStep: Step = ({ openModel: step }, opener) => step(opener);

function withProfile<O extends Opened>(opened: O, options: OpenOptions): O {
  try {
    overrideProfile(opened, options.profile ?? {});
  } catch (error) {
    opened.opener.delete();
    throw error;
  }
  return opened;
}

/** @throws {TypeError} for a value that a profile does not have, or that is not of its kind */
function overrideProfile({ core, opener }: Opened, { architecture, ...values }: Partial<Profile>): void {
  const { overrideText, overrideNumber } = core.functions;
  if (architecture !== undefined) core.check(overrideText(opener.address, 'architecture', architecture));
  for (const [key, value] of Object.entries(values)) {
    if (value === undefined) continue;
    const isText = typeof value === 'string';
    core.check(
      isText ? overrideText(opener.address, key, value) : overrideNumber(opener.address, key, Number(value)),
    );
  }
}

/** Reads the headers alone: also of files that hold no embedding table. */
export function openHeaders(source: Source, options: OpenOptions): Promise<Opened> {
  return open(source, options, ({ readDirectory }, opener) => readDirectory(opener));
}

interface DeflatedRange {
  archive: string;
  offset: number;
  bytes: number;
  inflated: number;
}

type Opening = Pick<Opened, 'core' | 'opener' | 'files'>;

const deflatedIn = ({ core, opener }: Opening, name: string) =>
  core.answer<DeflatedRange | null>(core.functions.deflated(opener.address, name));

// A compressed entry of an archive counts as a file of its own.
function sourceOf(opening: Opening, name: string): Source {
  const { files } = opening;
  const range = deflatedIn(opening, name);
  if (range === null) return files.get(name);
  const entry = { start: range.offset, bytes: range.bytes, inflatedBytes: range.inflated };
  return new InflatedSource(files.get(range.archive), entry, name);
}

type Step = (functions: Core['functions'], opener: number) => number;

// A file that the common core does not recognise is one for its second part, or else for the full core, which also says
// what it seems to be.
async function open(source: Source, options: OpenOptions, step: Step): Promise<Opened> {
  options.signal?.throwIfAborted();
  const files = new ModelFiles(source);
  const core = await Core.create(options);
  // Its name decides nothing, but the second part can come while the first bytes do.
  if (files.root.name.endsWith('.safetensors')) core.whole().catch(() => {});
  let opened = await openIfKnown(core, files, options, step);
  if (opened === undefined && (await mayBeJson(files.root, options.signal))) {
    await core.whole();
    opened = await openIfKnown(core, files, options, step);
  }
  if (opened !== undefined) return opened;
  const { createFullCore } = await lazy('this kind of file', () => import('./full_core.js'));
  return openWith(await createFullCore(options), files, options, step);
}

/** A safetensors header is JSON behind eight bytes; an index of shards is JSON, and may be beside a missing file. */
async function mayBeJson(root: Source, signal?: AbortSignal): Promise<boolean> {
  const size = await root.size(signal).catch(() => 0);
  if (size === 0) return true;
  const head = await root.read(0, Math.min(size, 9), { signal });
  return [head[0], head[8]].some((byte) => byte !== undefined && /[{\s]/.test(String.fromCharCode(byte)));
}

async function openIfKnown(
  core: Core,
  files: ModelFiles,
  options: OpenOptions,
  step: Step,
): Promise<Opened | undefined> {
  try {
    return await openWith(core, files, options, step);
  } catch (error) {
    if (error instanceof EmbeddingError && error.code === 'unrecognised') return undefined;
    throw error;
  }
}

async function openWith<C extends Core>(
  core: C,
  files: ModelFiles,
  options: OpenOptions,
  step: Step,
): Promise<Opened<C>> {
  const { name } = files.root;
  const { makeOpener, deleteOpener } = core.functions;
  const opener = core.own(makeOpener(name, options.tensor ?? '', options.head ?? ''), deleteOpener);
  try {
    await new HeaderDriver({ core, opener, files }, options).run(step);
    return new Opened(core, opener, files, core.answer(core.functions.directory(opener.address)));
  } catch (error) {
    opener.delete();
    throw error;
  }
}

class HeaderDriver {
  #loaded = 0;
  /** Files whose size the core knows. */
  readonly #known = new Set<string>();

  constructor(
    private readonly opening: Opening,
    private readonly options: OpenOptions,
  ) {}

  async run(step: Step): Promise<void> {
    const { core, opener } = this.opening;
    while (step(core.functions, opener.address) !== 0) {
      if (core.functions.errorCode() !== 'need-bytes') throw core.failure();
      this.options.signal?.throwIfAborted();
      await this.#serve(core.answer(core.functions.want(opener.address)));
    }
    core.functions.dropBytes(opener.address);
  }

  async #serve(want: Want): Promise<void> {
    const { core, opener } = this.opening;
    const source = sourceOf(this.opening, want.file);
    if (!(await this.#tellSize(source, want))) return;
    if (want.length === 0) return;
    const length = lengthToRead(want, source.atHand ?? 0);
    const { signal } = this.options;
    const bytes = await source.read(want.offset, want.offset + length, { signal });
    const address = core.functions.feed(opener.address, want.file, want.offset, length);
    if (address === 0) throw core.failure();
    core.memory.write(address, bytes);
    this.#report(length);
  }

  /** False if the file is missing. */
  async #tellSize(source: Source, { file, optional }: Want): Promise<boolean> {
    if (this.#known.has(file)) return true;
    const { core, opener, files } = this.opening;
    try {
      const size = await source.size(this.options.signal);
      core.functions.setSize(opener.address, file, size);
    } catch (error) {
      if (file === files.root.name || !isMissing(error, optional)) throw error;
      core.functions.setMissing(opener.address, file);
      return false;
    }
    this.#known.add(file);
    return true;
  }

  #report(bytes: number): void {
    this.#loaded += bytes;
    this.options.onProgress?.({ loaded: this.#loaded, total: 0, phase: 'header' });
  }
}

// What costs nothing comes first: often it is the whole header, and the suggestion reads far beyond.
function lengthToRead({ offset, length, suggested }: Want, atHand: number): number {
  const free = atHand - offset;
  return free >= length ? Math.min(free, suggested) : Math.max(length, suggested);
}

function isMissing(error: unknown, optional: boolean): boolean {
  if (optional) return isAbsent(error);
  return error instanceof EmbeddingError && error.code === 'not-found';
}
