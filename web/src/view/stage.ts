// Which vectors are shown: rows as they are, or what the first layer receives, with the profile's word or the person's.
import { computed, signal } from '@preact/signals';
import { EmbeddingModel, type Profile } from 'id2vec';

import { model, origin } from '../state';

export const stage = signal<'rows' | 'embedded'>('rows');
/** `file`: as the model has it. */
export const scale = signal<'file' | 'root'>('file');
export const positions = signal<'file' | 'none' | 'sinusoidal'>('file');

/** What the choices change in the model's profile. */
export const overrides = computed<Partial<Profile>>(() => ({
  ...(scale.value === 'root' && model.value && { embeddingScale: Math.sqrt(model.value.dim) }),
  ...(positions.value === 'none' && { positions: 'none' }),
  ...(positions.value === 'sinusoidal' && {
    positions: 'sinusoidal-interleaved',
    positionIds: 'sequential',
    positionOffset: 0,
  }),
}));

export const profile = computed<Profile | undefined>(
  () => model.value && { ...model.value.info.profile, ...overrides.value },
);

/** The input stage as a formula: `E[id] × 16 + P[t]`. */
export const formula = computed(() => {
  const active = profile.value;
  if (stage.value === 'rows' || !active) return 'E[ids]';
  const scaled = active.embeddingScale === 1 ? '' : ` × ${trim(active.embeddingScale)}`;
  const placed = active.positions === 'none' ? '' : ' + P[t]';
  const inner = `E[ids]${scaled}${placed}`;
  return active.norm === 'none' ? inner : `${active.norm === 'rms-norm' ? 'RMSNorm' : 'LayerNorm'}(${inner})`;
});

const trim = (value: number) => String(Number(value.toFixed(3)));

let other: { of: EmbeddingModel; key: string; opened: Promise<EmbeddingModel> } | undefined;

/** The vectors of ids as chosen: [N, width]. */
export async function vectorsOf(active: EmbeddingModel, ids: number[]): Promise<Float32Array> {
  if (stage.value === 'rows') return (await active.lookup(ids)).data;
  return (await (await embedder(active)).embed(ids)).data;
}

/** The model itself, or one with another profile that takes the few rows it needs from the same file. */
function embedder(active: EmbeddingModel): Promise<EmbeddingModel> | EmbeddingModel {
  const changes = overrides.value;
  const key = JSON.stringify(changes);
  if (key === '{}') return active;
  if (other?.of === active && other.key === key) return other.opened;
  closeEmbedder();
  const options = { residency: 'remote', profile: changes } as const;
  const opened = EmbeddingModel.load(origin.value!.source, options);
  other = { of: active, key, opened };
  // What failed is tried again the next time.
  opened.catch(() => {
    if (other?.opened === opened) other = undefined;
  });
  return opened;
}

export function closeEmbedder(): void {
  void other?.opened.then(
    (opened) => opened.dispose(),
    () => undefined,
  );
  other = undefined;
}
