import { hasPieces } from '../input/pieces';
import { parsed } from '../input/parse';
import { mode, model, problem, tokenizer, typed } from '../state';
import { changeMode, showIds, shuffleIds } from '../view/show';
import { Pieces } from './Pieces';
import { ShuffleNote } from './ShuffleNote';
import { Switch } from './Switch';
import { TokenizerNote } from './TokenizerNote';

const kModes = [
  ['text', 'text'],
  ['ids', 'ids'],
] as const;

/** The one thing to type: text, or ids. */
export function Input() {
  const active = model.value;
  if (!active) return null;
  const type = (event: Event) => {
    typed.value = (event.currentTarget as HTMLTextAreaElement).value;
    void showIds();
  };
  const asText = mode.value === 'text';
  const range = `0 … ${(active.vocabSize - 1).toLocaleString('en')}`;
  return (
    <section class="card input" aria-labelledby="input-title">
      <header class="card-head">
        <h2 id="input-title">
          <label for="typed">{asText ? 'Text' : 'Ids'}</label>
          <span class="dims">{asText ? (tokenizer.value ? 'any text' : 'whole words') : range}</span>
        </h2>
        {hasPieces() && (
          <Switch legend="Type" name="mode" value={mode.value} options={kModes} onChange={changeMode} />
        )}
      </header>
      <div class="input-line">
        <textarea
          id="typed"
          rows={1}
          spellcheck={false}
          autocapitalize="off"
          value={typed.value}
          onInput={type}
          aria-describedby="typed-problem"
        />
        <button onClick={shuffleIds} disabled={parsed.value.ids.length < 2}>
          Shuffle
        </button>
      </div>
      <p class="problem" id="typed-problem" role="alert">
        {problem.value}
      </p>
      <Pieces />
      <ShuffleNote />
      <TokenizerNote />
    </section>
  );
}
