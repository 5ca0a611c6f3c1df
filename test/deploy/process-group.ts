import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

/** How long a program may take to end by itself. */
const PATIENCE_MS = 5000;

/** A running program with all that it starts. */
export interface ProcessGroup {
  hasEnded(): boolean;
  stop(): Promise<void>;
}

/** Starts a program in a process group of its own, so that what it starts ends with it; and it ends with this process. */
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
      await Promise.race([ended, sleep(PATIENCE_MS, undefined, { ref: false })]);
      // The program may have ended and left some of its own.
      signal('SIGKILL');
      await ended;
      process.off('exit', killAtExit);
    },
  };
};
