import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { pipeline, Transform } from 'node:stream';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

/** A request and its response. A timer is late by 0.6 ms in the mean: together they take 8 ms. */
const DELAYS_MS = [4, 3] as const;

const delay = (ms: number) =>
  new Transform({
    transform(chunk, _, done) {
      setTimeout(() => this.push(chunk), ms);
      done();
    },
  });

// In the thread of the clients the delay would grow with their work.
if (!isMainThread) {
  const { hostname: host, port } = new URL(workerData);
  const server = createServer({ noDelay: true }, (client) => {
    const upstream = connect({ host, port: Number(port), noDelay: true });
    pipeline(client, delay(DELAYS_MS[0]), upstream, delay(DELAYS_MS[1]), client, () => {});
  }).listen(0, '127.0.0.1');
  server.on('listening', () => parentPort?.postMessage((server.address() as AddressInfo).port));
}

/** Returns the URL under which the server of `url` is 8 ms away. */
export const distant = async (url: string): Promise<string> => {
  const [port] = await once(new Worker(new URL(import.meta.url), { workerData: url }), 'message');
  return `http://127.0.0.1:${port}`;
};
