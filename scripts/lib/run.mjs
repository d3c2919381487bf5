import { spawn } from 'node:child_process';

/**
 * Starts a command with this process's output and no input. Resolves with its exit code where `tolerate` is set;
 * otherwise rejects when that is not 0.
 */
export function run(command, args, { tolerate = false, ...options } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit'], ...options });
    child.on('error', reject);
    child.on('exit', (code, signal) => {
      if (code === 0 || tolerate) resolve(code ?? 1);
      else reject(new Error(`${command} ${args.join(' ')} ended with ${signal ?? `code ${code}`}`));
    });
  });
}
