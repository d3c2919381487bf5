import { useEffect, useState } from 'preact/hooks';

import { openDefault, openModel } from './actions';
import { IdInput } from './components/IdInput';
import { Logits } from './components/Logits';
import { MatrixView } from './components/Matrix';
import { ModelCard } from './components/ModelCard';
import { ModelPicker } from './components/ModelPicker';
import { Neighbours } from './components/Neighbours';
import { Training } from './components/Training';
import { defaultModels } from './models';
import { model, problem } from './state';

export function App() {
  useEffect(() => void openDefault(defaultModels[0]!), []);
  return (
    <DropZone>
      <header class="hero">
        <h1>
          id<span class="two">2</span>vec
        </h1>
        <p>
          A language model begins by looking up a row for each token id, and ends by reading the same table
          backwards. Here you can watch it do both. Nothing leaves this page.
        </p>
      </header>
      <main>
        <ModelPicker />
        {!model.value && problem.value && (
          <p class="problem" role="alert">
            {problem.value}
          </p>
        )}
        <IdInput />
        <MatrixView />
        <div class="columns">
          <Logits />
          <div class="stack">
            <Neighbours />
            <ModelCard />
          </div>
        </div>
        <Training />
      </main>
    </DropZone>
  );
}

/** The whole page takes a dropped file. */
function DropZone({ children }: { children: preact.ComponentChildren }) {
  const [over, setOver] = useState(false);
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    const file = event.dataTransfer?.files[0];
    if (file) void openModel(file, file.name);
  };
  const hover = (event: DragEvent) => {
    event.preventDefault();
    setOver(true);
  };
  return (
    <div
      class={over ? 'page dropping' : 'page'}
      onDragOver={hover}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      {children}
    </div>
  );
}
