import { showIds, shuffleIds } from '../actions';
import { idText, model, problem } from '../state';

/** The one thing to type: ids, or words where the file carries its vocabulary. */
export function IdInput() {
  const active = model.value;
  if (!active) return null;
  const type = (event: Event) => {
    idText.value = (event.currentTarget as HTMLTextAreaElement).value;
    void showIds();
  };
  return (
    <section class="ids">
      <label for="ids">
        ids{active.tokens ? ' or words' : ''} <small>0 … {(active.vocabSize - 1).toLocaleString('en')}</small>
      </label>
      <div class="ids-line">
        <textarea id="ids" rows={1} spellcheck={false} value={idText.value} onInput={type} />
        <button
          onClick={shuffleIds}
          title="The lookup does not know about order: the rows only change places"
        >
          Shuffle
        </button>
      </div>
      <p class="problem" role="alert">
        {problem.value}
      </p>
    </section>
  );
}
