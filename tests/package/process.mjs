import { spawn } from 'node:child_process';

/** The last line that a program prints; rejects with all it printed where it fails. `env`: beside what there is. */
export function output(program, args, cwd, env = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let text = '';
    let errors = '';
    child.stdout.on('data', (data) => (text += data));
    child.stderr.on('data', (data) => (errors += data));
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) resolve(text.trim().split('\n').at(-1));
      else reject(new Error(`${program} ended with code ${code}\n${text}${errors}`));
    });
  });
}
