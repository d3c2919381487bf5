import { changeVersion, offline } from '../offline/register';

/** Says that the network may go now, or that a newer page is at hand. */
export function OfflineNote() {
  if (offline.value === 'no') return null;
  return (
    <p class="offline" role="status">
      {offline.value === 'ready' ? (
        'This page works offline now.'
      ) : (
        <>
          A newer version of this page is here. <button onClick={changeVersion}>Use it</button>
        </>
      )}
    </p>
  );
}
