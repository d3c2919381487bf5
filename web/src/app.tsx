import { useEffect } from 'preact/hooks';

import { Bench } from './components/Bench';
import { DropZone } from './components/DropZone';
import { Input } from './components/Input';
import { Logits } from './components/Logits';
import { MatrixView } from './components/Matrix';
import { MemoryBill } from './components/MemoryBill';
import { ModelCard } from './components/ModelCard';
import { ModelPicker } from './components/ModelPicker';
import { Neighbours } from './components/Neighbours';
import { OfflineNote } from './components/OfflineNote';
import { PlaneView } from './components/PlaneView';
import { Similarity } from './components/Similarity';
import { Training } from './components/Training';
import { defaultModels } from './model/defaults';
import { openDefault } from './model/open';
import { keepOffline } from './offline/register';

export function App() {
  useEffect(() => void openDefault(defaultModels[0]!).then(keepOffline), []);
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
        <Input />
        <MatrixView />
        <div class="columns">
          <div class="stack">
            <Logits />
            <Similarity />
          </div>
          <div class="stack">
            <Neighbours />
            <PlaneView />
          </div>
          <ModelCard />
          <MemoryBill />
        </div>
        <Bench />
        <Training />
      </main>
      <footer>
        <OfflineNote />
      </footer>
    </DropZone>
  );
}
