// A folder in which the examples run against the package as npm would publish it.
//
//   FOLDER/node_modules              what examples/package.json and package.json here ask for, kept between runs
//   FOLDER/run-…/examples            a copy of examples/
//   FOLDER/run-…/node_modules/id2vec  the packed package, unpacked
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import { execFileSync } from 'node:child_process';

const manifests = ['examples', 'tests/package'];

/** Returns { folder, tools }: where the examples are, and the folder of the programs that they need. */
export async function install() {
  const base = process.env.ID2VEC_CACHE ?? join(homedir(), '.cache', 'id2vec');
  const tools = await installTools(base);
  await mkdir(tools, { recursive: true });
  const folder = await mkdtemp(join(tools, 'run-'));
  const skipped = new Set(['node_modules', 'dist', '.parcel-cache']);
  await cp('examples', folder, { recursive: true, filter: (path) => !skipped.has(basename(path)) });
  await mkdir(join(folder, 'node_modules', 'id2vec'), { recursive: true });
  const packed = execFileSync('npm', ['pack', '--silent', '--pack-destination', folder], {
    encoding: 'utf8',
  });
  execFileSync('tar', ['xzf', join(folder, packed.trim().split('\n').at(-1)), '-C', folder]);
  await cp(join(folder, 'package'), join(folder, 'node_modules', 'id2vec'), { recursive: true });
  return { folder, tools };
}

async function installTools(base) {
  const locks = await Promise.all(manifests.map((folder) => readFile(`${folder}/package-lock.json`)));
  const hash = createHash('sha256').update(Buffer.concat(locks)).digest('hex').slice(0, 12);
  const tools = join(base, `examples-${hash}`);
  if (existsSync(join(tools, 'ready'))) return tools;
  console.log('installing runtimes and bundlers');
  for (const folder of manifests) {
    const into = folder === 'examples' ? tools : join(tools, 'nodes');
    await mkdir(into, { recursive: true });
    for (const file of ['package.json', 'package-lock.json']) await cp(`${folder}/${file}`, join(into, file));
    execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], {
      cwd: into,
    });
  }
  await writeFile(join(tools, 'ready'), '');
  return tools;
}
