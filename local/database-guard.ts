/**
 * Runs the database for the service and ends it with the service. Its stdin is a pipe that the service holds open: when the service
 * ends, in whatever way (also killed), the pipe closes. It lives in a process group of its own, so that Ctrl-C in the terminal
 * reaches the service alone and requests in flight still find their database.
 *
 * node database-guard.ts <binary> <argument>...
 */
import { spawn } from 'node:child_process';

const KILL_AFTER_MS = 5000;

const [binary = '', ...options] = process.argv.slice(2);
const database = spawn(binary, options, { stdio: ['ignore', 'ignore', 'inherit'], windowsHide: true });

const stop = (): void => {
  database.kill('SIGTERM');
  setTimeout(() => database.kill('SIGKILL'), KILL_AFTER_MS).unref();
};

process.stdin.resume().once('close', stop);
process.once('SIGTERM', stop);
database.once('error', (error) => {
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
});
database.once('exit', (code) => process.exit(code ?? 1));
