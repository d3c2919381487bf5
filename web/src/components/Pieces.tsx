import { hasPieces, pieceOf } from '../input/pieces';
import { matrix, selectedRow } from '../state';
import { kMostShown } from './Matrix';

/** Of what is shown: each id under its piece. A click chooses the row. */
export function Pieces() {
  const shown = matrix.value;
  if (!shown || shown.ids.length === 0 || !hasPieces()) return null;
  return (
    <ol class="pieces" aria-label="Pieces and their ids">
      {shown.ids.slice(0, kMostShown).map((id, position) => (
        <li key={position}>
          <button
            aria-pressed={selectedRow.value === position}
            onClick={() => (selectedRow.value = position)}
            class="piece"
          >
            <span class="piece-text">{visible(pieceOf(id))}</span>
            <small>{id}</small>
          </button>
        </li>
      ))}
      {shown.ids.length > kMostShown && <li class="dims">… {shown.ids.length - kMostShown} more</li>}
    </ol>
  );
}

/** A piece of nothing but space would not be seen. */
const visible = (piece: string | undefined) =>
  piece === undefined ? '—' : piece.trim() === '' ? JSON.stringify(piece) : piece;
