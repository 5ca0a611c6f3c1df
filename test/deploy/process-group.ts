import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

/** The time that a program has to end after SIGTERM. */
const STOP_TIMEOUT_MS = 5000;

/** A running program and its child processes. */
interface ProcessGroup {
  hasEnded(): boolean;
  stop(): Promise<void>;
}

/** Starts a program in a new process group. `stop` ends the whole group, and so does the exit of this process. */
export const startGroup = (
  program: string,
  env: Readonly<Record<string, string | undefined>>,
): ProcessGroup => {
  const hasGroups = process.platform !== 'win32';
  const child = spawn(program, [], { stdio: 'ignore', detached: hasGroups, env: { ...env } });
  const ended = once(child, 'close').catch(() => {});
  const hasEnded = (): boolean =>
    child.pid === undefined || child.exitCode !== null || child.signalCode !== null;

  const signal = (name: NodeJS.Signals): void => {
    if (child.pid === undefined) return;
    try {
      process.kill(hasGroups ? -child.pid : child.pid, name);
    } catch {
      // The group has ended already.
    }
  };
  const killAtExit = (): void => signal('SIGKILL');
  process.once('exit', killAtExit);

  return {
    hasEnded,
    async stop() {
      signal('SIGTERM');
      await Promise.race([ended, sleep(STOP_TIMEOUT_MS, undefined, { ref: false })]);
      // Child processes may still run after the program has ended.
      signal('SIGKILL');
      await ended;
      process.off('exit', killAtExit);
    },
  };
};
