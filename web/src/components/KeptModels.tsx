import { useEffect } from 'preact/hooks';

import { bytes, titleOf } from '../format';
import { forget, forgetAll, keeps, kept, refreshKept } from '../model/kept';
import { openKept } from '../model/open';

/** The models from URLs that stay on this device: open them without a network, or let them go. */
export function KeptModels() {
  useEffect(() => void refreshKept(), []);
  const files = kept.value;
  const total = files.reduce((sum, file) => sum + file.bytes, 0);
  return (
    <details class="kept">
      <summary>
        Kept on this device <span class="dims">{files.length === 0 ? 'nothing yet' : bytes(total)}</span>
      </summary>
      {files.length === 0 && (
        <p class="hint">
          {keeps.value
            ? 'What you open from a URL is kept here, and opens again without a network.'
            : 'This window keeps nothing: models from URLs are fetched each time.'}
        </p>
      )}
      <ul>
        {files.map((file) => (
          <li key={file.key}>
            <button
              class="kept-name"
              onClick={() => void openKept(file.url, titleOf(file.url))}
              title={file.url}
            >
              {titleOf(file.url)}
            </button>
            <span class="dims">
              {bytes(file.bytes)}
              {file.complete ? '' : ` of ${bytes(file.size)}`},{' '}
              <time>{file.lastUsed.toLocaleDateString()}</time>
            </span>
            <button onClick={() => void forget(file.key)} aria-label={`Delete ${titleOf(file.url)}`}>
              Delete
            </button>
          </li>
        ))}
      </ul>
      {files.length > 1 && <button onClick={() => void forgetAll()}>Delete all</button>}
    </details>
  );
}
