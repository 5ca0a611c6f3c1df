import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Returns the command lines of all processes that contain this text. */
export const processesWith = async (text: string): Promise<string[]> => {
  const { stdout } = await promisify(execFile)('ps', ['-eo', 'args']);
  return stdout.split('\n').filter((line) => line.includes(text));
};

/** Returns the ids of the database that keeps its data under this path, and of its guard process. */
export const databaseProcess = async (path: string): Promise<{ pid: number; guardPid: number }> => {
  const { stdout } = await promisify(execFile)('ps', ['-eo', 'pid,ppid,args']);
  const line = stdout.split('\n').find((one) => /\d \S*dynoxide serve/.test(one) && one.includes(path)) ?? '';
  const [pid, guardPid] = line.trim().split(/\s+/).map(Number);
  if (pid === undefined || guardPid === undefined) throw new Error(`no database keeps its data in ${path}`);
  return { pid, guardPid };
};
