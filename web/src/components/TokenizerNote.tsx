import { chooseFiles, fetchTokenizer, mayHaveTokenizer } from '../model/open';
import { model, tokenizer } from '../state';

/** Where text becomes ids, and how it could. */
export function TokenizerNote() {
  if (tokenizer.value) return <p class="hint">Text is taken apart by {tokenizer.value.name}.</p>;
  return (
    <p class="hint tokenizer-note">
      {model.value?.tokens
        ? 'Whole words are looked up in the vocabulary of the file. For any text, add its tokenizer.json: '
        : 'This file carries no vocabulary. To type text, add its tokenizer.json: '}
      <label class="button">
        choose it
        <input type="file" accept=".json" class="visually-hidden" onChange={chooseFiles} multiple />
      </label>
      {mayHaveTokenizer() && (
        <button onClick={() => void fetchTokenizer()}>fetch it from beside the model</button>
      )}
    </p>
  );
}
