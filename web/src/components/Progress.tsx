import { bytes } from '../format';
import { loading } from '../state';

/** How far a load is. */
export function Progress() {
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
