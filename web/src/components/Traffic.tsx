import { bytes } from '../format';
import { model, modelTitle } from '../state';

/** What the last load over the network has cost, beside the size of the file. */
export function Traffic() {
  const traffic = model.value?.info.traffic;
  if (!traffic) return null;
  const { fetchedBytes, cachedBytes, fileBytes, requests } = traffic;
  const share = fileBytes > 0 ? fetchedBytes / fileBytes : 0;
  return (
    <div class="traffic">
      <meter value={Math.min(1, share)} aria-label="Bytes fetched of the file" />
      <p class="hint">
        {modelTitle.value}: fetched {bytes(fetchedBytes)} of a file of {bytes(fileBytes)} (
        {(share * 100).toFixed(share < 0.1 ? 1 : 0)} %) in {requests}{' '}
        {requests === 1 ? 'request' : 'requests'}
        {cachedBytes > 0 && `; ${bytes(cachedBytes)} were here already`}.
      </p>
    </div>
  );
}
