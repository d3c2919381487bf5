// node process.js URL FOLDER: one line for every chunk, and the outcome as JSON in the last one.
import { download } from './download.js';

const [url, folder] = process.argv.slice(2);
const outcome = await download(url!, folder, (count) => process.stdout.write(`${count}\n`));
process.stdout.write(`${JSON.stringify(outcome)}\n`);
