// WebKitGTK's driver and the X server that its browser draws on, both for as long as a function runs.
import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** Calls `use` with the environment that points Vitest at the driver, then stops what was started. */
export async function withWebDriver(use) {
  const display = await startX();
  const port = await freePort();
  const driver = start('WebKitWebDriver', [`--port=${port}`, '--host=127.0.0.1'], { DISPLAY: display.name });
  try {
    await answering(`http://127.0.0.1:${port}/status`);
    return await use({ DISPLAY: display.name, ID2VEC_WEBDRIVER_PORT: String(port) });
  } finally {
    driver.kill();
    display.process.kill();
  }
}

function start(command, args, env, stdio = 'ignore') {
  return spawn(command, args, { stdio, env: { ...process.env, ...env } });
}

/** An X server picks a free display number itself and writes it to the file descriptor it is told. */
async function startX() {
  const server = start('Xvfb', ['-displayfd', '3', '-screen', '0', '1280x1024x24', '-nolisten', 'tcp'], {}, [
    ...['ignore', 'ignore', 'ignore'],
    'pipe',
  ]);
  const number = await new Promise((resolve, reject) => {
    server.stdio[3].once('data', (data) => resolve(String(data).trim()));
    server.once('error', reject);
    server.once('exit', (code) => reject(new Error(`Xvfb ended with code ${code}`)));
  });
  return { process: server, name: `:${number}` };
}

function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

async function answering(url) {
  for (let attempt = 0; attempt < 100; attempt++) {
    if (
      await fetch(url).then(
        (response) => response.ok,
        () => false,
      )
    )
      return;
    await sleep(100);
  }
  throw new Error(`nothing answers at ${url}`);
}
