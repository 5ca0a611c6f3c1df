import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StartupError } from './startup-error.ts';

/**
 * Locks a data folder for one service; returns a function that unlocks it. The lock is a local socket on which the process listens, so
 * it ends with the process, also when that is killed. A stale pid file could name another process.
 */
export const lockFolder = async (folder: string): Promise<() => Promise<void>> => {
  const address = socketAddress(folder);
  const held = (await listen(address)) ?? (await takeOver(address));
  if (held === undefined) {
    throw new StartupError(
      `Another service is using ${folder}: stop it first, or choose another folder with --data.`,
    );
  }
  return async () => {
    held.close();
    await once(held, 'close');
  };
};

/** The address is derived from the folder's path but outside it: the path of a local socket must be short. */
const socketAddress = (folder: string): string => {
  const name = `buyer-linking-${createHash('sha256').update(folder).digest('hex').slice(0, 16)}`;
  return process.platform === 'win32' ? `\\\\.\\pipe\\${name}` : join(tmpdir(), `${name}.sock`);
};

/** Listens; undefined if the address is taken. A connection only shows that the holder is running, and is closed at once. */
const listen = async (address: string): Promise<Server | undefined> => {
  const server = createServer((socket) => socket.destroy());
  try {
    server.listen(address);
    await once(server, 'listening');
    server.unref();
    return server;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return undefined;
    throw error;
  }
};

/** A process that was killed leaves its socket file behind. Nothing listens there, so the file is removed. */
const takeOver = async (address: string): Promise<Server | undefined> => {
  if (await isInUse(address)) return undefined;
  await rm(address, { force: true });
  return listen(address);
};

const isInUse = async (address: string): Promise<boolean> => {
  const socket = connect(address);
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
};
