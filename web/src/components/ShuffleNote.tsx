import { profile, stage } from '../view/stage';
import { outcome } from '../view/shuffle';

/** After a shuffle: what became of the vectors, and why. */
export function ShuffleNote() {
  const result = outcome.value;
  if (!result) return null;
  return (
    <p class="hint" id="shuffle-note" role="status">
      <strong>
        {result.same} of {result.of}
      </strong>{' '}
      vectors are the same, bit for bit, {reason()}
    </p>
  );
}

function reason(): string {
  if (stage.value === 'rows') return 'and only stand in another place: a lookup does not know about order.';
  return profile.value?.positions === 'none'
    ? 'and only stand in another place: without positions the first layer cannot tell the order.'
    : 'because each place adds a vector of its own: now order is part of the input.';
}
