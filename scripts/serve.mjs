// Serves the built page with the headers of web/vite.config.ts and prints its address.
//   node scripts/serve.mjs [--once]     --once: ask for the page, report, end
import { preview } from 'vite';

const once = process.argv.includes('--once');
const unknown = process.argv.slice(2).filter((option) => option !== '--once');
if (unknown.length > 0) {
  console.error(`unknown option ${unknown[0]}; there is --once`);
  process.exit(2);
}

const server = await preview({ root: 'web', configFile: 'web/vite.config.ts' });
const address = server.resolvedUrls.local[0];
console.log(`\nid2vec: the page is at ${address}`);

if (once) {
  const response = await fetch(address);
  const html = await response.text();
  console.log(`id2vec: it answers with status ${response.status} and ${html.length} characters`);
  await server.close();
  process.exit(response.ok && html.includes('<script') ? 0 : 1);
}
console.log('id2vec: stop it with Ctrl+C');
