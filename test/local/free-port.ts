import { listenOnLoopback } from '#local/loopback-server.ts';

/** Returns a port of the loopback addresses at which nothing listens. */
export const freePort = async (): Promise<number> => {
  const server = await listenOnLoopback(0, async () => {});
  await server.close();
  return server.port;
};
