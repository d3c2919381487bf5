// The example of examples/node in every runtime that reads files, and that of examples/workerd.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ids } from './model.mjs';
import { output } from './process.mjs';

const x64 = process.arch === 'x64';

/** [name, () => what the example prints], for each runtime that is there. */
export function runtimes({ folder, tools, url }) {
  const modules = join(tools, 'node_modules');
  const node24 = process.env.ID2VEC_NODE24;
  const file = (program, ...args) =>
    output(program, [...args, 'node/main.js', 'model.safetensors', ...ids], folder);
  const web = (program, ...args) =>
    output(program, [...args, 'node/main.js', `${url}/model.safetensors`, ...ids], folder);
  const inWorkers = (program, ...args) =>
    output(program, [...args, 'node/main.js', `${url}/model.safetensors`, ...ids], folder, {
      RESIDENCY: 'workers',
    });
  const permissions = ['--allow-read', '--allow-write', '--allow-env', '--allow-net', '--allow-sys'];
  const programs = {
    [`node ${process.versions.node}`]: [process.execPath],
    'node 22': [join(tools, 'nodes/node_modules/node22/bin/node')],
    'node 24': [node24 ?? ''],
    deno: [join(modules, 'deno/bin.cjs'), 'run', '--no-prompt', ...permissions],
    bun: [join(modules, `@oven/bun-linux-${x64 ? 'x64' : 'aarch64'}/bin/bun`)],
  };
  programs.deno = [process.execPath, ...programs.deno];
  const present = Object.entries(programs).filter(([, command]) => existsSync(command[0]));
  return [
    ...present.flatMap(([name, command]) => [
      [`${name}, from a file`, () => file(...command)],
      [`${name}, from a URL`, () => web(...command)],
      [`${name}, in workers`, () => inWorkers(...command)],
    ]),
    ['workerd', () => workerd(folder, url)],
  ];
}

async function workerd(folder, url) {
  const env = { ...process.env, PORT: '0' };
  const server = spawn(process.execPath, ['workerd/serve.js'], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const address = await new Promise((resolve, reject) => {
      let text = '';
      server.stdout.on('data', (data) => {
        const match = /worker at (\S+)/.exec((text += data));
        if (match) resolve(match[1]);
      });
      server.once('exit', (code) => reject(new Error(`the worker ended with code ${code}: ${text}`)));
    });
    const response = await fetch(
      `${address}?model=${encodeURIComponent(`${url}/model.safetensors`)}&ids=${ids}`,
    );
    return await response.text();
  } finally {
    server.kill();
  }
}
