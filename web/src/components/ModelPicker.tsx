import { useState } from 'preact/hooks';

import { openDefault, openModel } from '../actions';
import { bytes } from '../format';
import { defaultModels } from '../models';
import { loading, modelTitle } from '../state';

/** Where a model comes from: the page itself, a URL, or a file that never leaves the machine. */
export function ModelPicker() {
  const [url, setUrl] = useState('');
  const openUrl = (event: Event) => {
    event.preventDefault();
    if (url.trim()) void openModel(url.trim(), url.trim().split('/').pop() || url);
  };
  const openFile = (event: Event) => {
    const file = (event.currentTarget as HTMLInputElement).files?.[0];
    if (file) void openModel(file, file.name);
  };
  return (
    <section class="card picker" aria-labelledby="picker-title">
      <h2 id="picker-title" class="visually-hidden">
        Choose a model
      </h2>
      <div class="choices">
        {defaultModels.map((choice) => (
          <button
            key={choice.url}
            class="choice"
            aria-pressed={modelTitle.value === choice.title}
            onClick={() => void openDefault(choice)}
          >
            <strong>{choice.title}</strong>
            <small>{choice.about}</small>
          </button>
        ))}
        <label class="choice file">
          <strong>Your own file</strong>
          <small>drop a GGUF, safetensors, PyTorch, npy or ONNX file anywhere, or choose one</small>
          <input type="file" class="visually-hidden" onChange={openFile} />
        </label>
      </div>
      <form class="url" onSubmit={openUrl}>
        <label class="visually-hidden" for="url">
          URL of a model file
        </label>
        <input
          id="url"
          type="text"
          inputMode="url"
          placeholder="https://…/model.gguf"
          value={url}
          onInput={(event) => setUrl(event.currentTarget.value)}
        />
        <button type="submit">Open</button>
      </form>
      <Progress />
    </section>
  );
}

function Progress() {
  const state = loading.value;
  if (!state) return null;
  return (
    <div class="progress" role="status">
      <progress
        value={state.total ? state.loaded / state.total : undefined}
        aria-label={`Loading ${state.title}`}
      />
      <span>
        {state.title}: {state.phase}
        {state.total ? `, ${bytes(state.loaded)} of ${bytes(state.total)}` : ''}
      </span>
      <button onClick={state.cancel}>Cancel</button>
    </div>
  );
}
