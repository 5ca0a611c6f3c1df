import { once } from 'node:events';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';

/** Returns addresses of this machine that a server on 127.0.0.1 and ::1 does not have: those of its network, on Linux also a loopback one. */
export const otherAddresses = (): string[] => {
  const ofNetwork = Object.values(networkInterfaces())
    .flatMap((all) => all ?? [])
    .filter(({ internal, family }) => !internal && family === 'IPv4')
    .map(({ address }) => address);
  return process.platform === 'linux' ? ['127.0.0.2', ...ofNetwork] : ofNetwork;
};

/** Resolves if a server accepts a connection, and rejects otherwise. */
export const connectTo = async (host: string, port: number): Promise<void> => {
  const socket = connect(port, host);
  try {
    await once(socket, 'connect');
  } finally {
    socket.destroy();
  }
};
