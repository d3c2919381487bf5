// The same in a page: `/#URL`. The title says how far it is, the body holds the outcome.
import { download } from './download.js';

const url = decodeURIComponent(location.hash.slice(1));
const outcome = await download(url, undefined, (count) => (document.title = String(count)));
document.body.textContent = JSON.stringify(outcome);
