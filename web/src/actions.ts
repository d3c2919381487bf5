// What the person can make happen. Each action leaves the page in a state that makes sense, also when it fails.
import { EmbeddingModel } from 'id2vec';

import { type DefaultModel } from './models';
import { idText, loading, matrix, model, modelTitle, parsedIds, problem, selectedRow } from './state';

let current: AbortController | undefined;

export async function openModel(source: string | Blob, title: string, words?: string): Promise<void> {
  current?.abort(new DOMException('another model was chosen', 'AbortError'));
  const controller = new AbortController();
  current = controller;
  const cancel = () => controller.abort(new DOMException('cancelled', 'AbortError'));
  problem.value = '';
  loading.value = { title, loaded: 0, total: 0, phase: 'header', cancel };
  try {
    const opened = await EmbeddingModel.load(source, {
      signal: controller.signal,
      onProgress: (progress) => {
        if (current === controller) loading.value = { title, ...progress, cancel };
      },
    });
    model.value?.dispose();
    model.value = opened;
    modelTitle.value = title;
    matrix.value = undefined;
    idText.value = words ?? firstIds(opened.vocabSize);
    await showIds();
  } catch (error) {
    if (!controller.signal.aborted) problem.value = sentence(error);
  } finally {
    if (current === controller) {
      current = undefined;
      loading.value = undefined;
    }
  }
}

export const openDefault = (choice: DefaultModel) => openModel(choice.url, choice.title, choice.words);

/** Looks up what is typed and shows the matrix; a wrong id becomes a sentence and the old picture stays. */
export async function showIds(): Promise<void> {
  const active = model.value;
  if (!active) return;
  const { ids, unknown } = parsedIds.value;
  if (unknown.length > 0) {
    problem.value = `Not an id, and not a piece of this vocabulary: ${unknown.join(', ')}`;
    return;
  }
  try {
    const rows = await active.lookup(ids);
    if (active !== model.value) return;
    problem.value = '';
    matrix.value = { ids, data: rows.data, dim: active.dim };
    selectedRow.value = Math.min(selectedRow.value, Math.max(0, ids.length - 1));
  } catch (error) {
    problem.value = sentence(error);
  }
}

export function shuffleIds(): void {
  const ids = [...parsedIds.value.ids];
  for (let i = ids.length - 1; i > 0; --i) {
    const j = Math.floor(Math.random() * (i + 1));
    [ids[i], ids[j]] = [ids[j]!, ids[i]!];
  }
  idText.value = ids.join(' ');
  void showIds();
}

const firstIds = (vocabSize: number) =>
  [1, 2, 3, 5, 8, 13, 21].map((id) => Math.min(id, vocabSize - 1)).join(' ');

const sentence = (error: unknown) => (error instanceof Error ? error.message : String(error));
