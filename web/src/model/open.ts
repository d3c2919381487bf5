// Opening a model: one that comes with the page, a URL, files. Whatever fails leaves the model that was there.
import { EmbeddingError, EmbeddingModel } from 'id2vec';

import { mode, loading, loadProblem, matrix, model, modelTitle, origin, tokenizer, typed } from '../state';
import type { Origin } from '../state';
import { openTokenizer, ownTokenizer } from '../input/tokenizer';
import type { TextTokenizer } from '../input/tokenizer';
import { sentence, titleOf } from '../format';
import { showIds } from '../view/show';
import { closeEmbedder } from '../view/stage';
import { refreshKept } from './kept';
import type { DefaultModel } from './defaults';

interface Opening {
  title: string;
  signal: AbortSignal;
  report(progress: { loaded: number; total: number; phase: string }): void;
}

interface Found {
  from: Origin;
  opened: EmbeddingModel;
  reads?: TextTokenizer;
  words?: string;
}

let current: AbortController | undefined;

export const openDefault = (choice: DefaultModel) =>
  open(choice.title, async ({ signal, report }) => {
    report({ loaded: 0, total: 0, phase: 'fetching' });
    // The browser's own cache and the service worker know this file: it is the page's.
    const response = await fetch(choice.url, { signal });
    if (!response.ok) throw new Error(`${choice.title} cannot be fetched: status ${response.status}.`);
    const source = await response.blob();
    const opened = await EmbeddingModel.load(source, { signal, onProgress: report });
    return { from: { source, bundled: true }, opened, words: choice.words };
  });

export const openUrl = (url: string) =>
  open(titleOf(url), async ({ signal, report }) => {
    const opened = await loadUrl(url, { signal, onProgress: report });
    return { from: { source: url, bundled: false }, opened };
  });

function loadUrl(url: string, options: { signal: AbortSignal; onProgress: Opening['report'] }) {
  // Without a network the first failure is enough to turn to what is kept.
  return EmbeddingModel.load(url, { ...options, ...(!navigator.onLine && { retries: 0 }) });
}

/** A model that is kept is opened without the network; where a part of it is missing, with it. */
export const openKept = (url: string, title: string) =>
  open(title, async ({ signal, report }) => {
    const options = { signal, onProgress: report };
    const opened = await EmbeddingModel.load(url, { ...options, offline: true }).catch((error: unknown) => {
      if (!(error instanceof EmbeddingError) || error.code !== 'offline') throw error;
      return loadUrl(url, options);
    });
    return { from: { source: url, bundled: false }, opened };
  });

/** Dropped or chosen files: a model, its tokenizer, or both. */
export async function openFiles(files: File[]): Promise<void> {
  const json = files.find((file) => /tokenizer\.json$/i.test(file.name));
  const config = files.find((file) => /tokenizer_config\.json$/i.test(file.name));
  const rest = files.filter((file) => file !== json && file !== config);
  if (files.length === 0) return;
  const reads = json && (() => openTokenizer(json.name, files, { root: json.name }));
  if (rest.length === 0 && reads) return takeTokenizer(reads);
  const source = rest.length === 1 ? rest[0]! : rest;
  await open(rest.length === 1 ? rest[0]!.name : `${rest.length} files`, async ({ signal, report }) => {
    const tokenizer = await reads?.();
    const opened = await EmbeddingModel.load(source, { signal, onProgress: report });
    return { from: { source, bundled: false }, opened, reads: tokenizer };
  });
}

/** Whether a tokenizer.json may lie beside the model that is shown. */
export const mayHaveTokenizer = () => typeof origin.value?.source === 'string';

/** Through the package's cache, like the model. */
export const fetchTokenizer = () =>
  takeTokenizer(() => openTokenizer('the tokenizer.json beside the model', origin.value!.source));

/** The files of an `<input type=file>`, which may choose the same ones again afterwards. */
export function chooseFiles(event: Event): void {
  const input = event.currentTarget as HTMLInputElement;
  void openFiles([...(input.files ?? [])]).then(() => (input.value = ''));
}

async function takeTokenizer(find: () => Promise<TextTokenizer>): Promise<void> {
  const active = model.value;
  try {
    const found = await find();
    if (model.value !== active) return; // its ids are no other model's
    tokenizer.value = found;
    loadProblem.value = '';
    await showIds();
  } catch (error) {
    if (model.value === active) loadProblem.value = sentence(error);
  }
  void refreshKept();
}

async function open(title: string, find: (opening: Opening) => Promise<Found>): Promise<void> {
  current?.abort(new DOMException('another model was chosen', 'AbortError'));
  const controller = new AbortController();
  current = controller;
  const cancel = () => controller.abort(new DOMException('cancelled', 'AbortError'));
  const report: Opening['report'] = (progress) => {
    if (current === controller) loading.value = { title, ...progress, cancel };
  };
  loadProblem.value = '';
  report({ loaded: 0, total: 0, phase: 'header' });
  try {
    const found = await find({ title, signal: controller.signal, report });
    const { opened, from } = found;
    if (opened.tokens) found.reads ??= await ownTokenizer(from.source, controller.signal);
    if (controller.signal.aborted) return opened.dispose();
    await change(title, found);
  } catch (error) {
    if (!controller.signal.aborted) loadProblem.value = sentence(error);
  } finally {
    if (current === controller) {
      current = undefined;
      loading.value = undefined;
    }
    void refreshKept();
  }
}

async function change(title: string, { from, opened, reads, words }: Found): Promise<void> {
  closeEmbedder();
  model.value?.dispose();
  matrix.value = undefined;
  model.value = opened;
  tokenizer.value = reads;
  origin.value = from;
  modelTitle.value = title;
  mode.value = words !== undefined || reads ? 'text' : 'ids';
  typed.value = words ?? (reads ? 'What is the capital of France?' : firstIds(opened.vocabSize));
  await showIds();
}

const firstIds = (vocabSize: number) =>
  [1, 2, 3, 5, 8, 13, 21].map((id) => Math.min(id, vocabSize - 1)).join(' ');
