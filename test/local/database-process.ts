import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Returns the process id of the embedded database of a data folder. */
export const databasePid = async (folder: string): Promise<number> =>
  JSON.parse(await readFile(join(folder, 'database.pid'), 'utf8')).pid;

export const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};
