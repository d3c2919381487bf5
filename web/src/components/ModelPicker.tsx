import { useState } from 'preact/hooks';

import { defaultModels } from '../model/defaults';
import { chooseFiles, openDefault, openUrl } from '../model/open';
import { loadProblem, modelTitle } from '../state';
import { KeptModels } from './KeptModels';
import { Progress } from './Progress';
import { Traffic } from './Traffic';

/** Where a model comes from: the page itself, a URL, or a file that never leaves the machine. */
export function ModelPicker() {
  const [url, setUrl] = useState('');
  const submit = (event: Event) => {
    event.preventDefault();
    if (url.trim()) void openUrl(url.trim());
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
          <small>
            GGUF, safetensors, PyTorch, npy or ONNX, with its tokenizer.json if there is one: drop them
            anywhere, or choose
          </small>
          <input id="files" type="file" multiple class="visually-hidden" onChange={chooseFiles} />
        </label>
      </div>
      <form class="url" onSubmit={submit}>
        <label class="visually-hidden" for="url">
          URL of a model file
        </label>
        <input
          id="url"
          type="text"
          inputMode="url"
          autocapitalize="off"
          placeholder="https://…/model.gguf or hf://owner/name/file"
          value={url}
          onInput={(event) => setUrl(event.currentTarget.value)}
        />
        <button type="submit">Open</button>
      </form>
      <Progress />
      {loadProblem.value && (
        <p class="problem" role="alert">
          {loadProblem.value}
        </p>
      )}
      <Traffic />
      <KeptModels />
    </section>
  );
}
