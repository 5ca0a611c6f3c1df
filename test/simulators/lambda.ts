import { AsyncLocalStorage } from 'node:async_hooks';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { redirectLog } from '#shared/log.ts';

/** Does what a version does with an event: returns its response, or throws. */
export type Version = (event: unknown) => unknown;

/** Lambda refuses the invocation, with the status and the type of its error. */
export class Refusal extends Error {
  readonly status: number;
  readonly type: string;

  constructor(status: number, type: string) {
    super(type);
    this.status = status;
    this.type = type;
  }
}

const respond = (response: ServerResponse, error: unknown): void => {
  if (error instanceof Refusal) {
    response.writeHead(error.status, { 'x-amzn-ErrorType': error.type });
    response.end(JSON.stringify({ message: 'Rate Exceeded.', Type: 'User' }));
    return;
  }
  const { name, message } = error as Error;
  response.writeHead(200, { 'X-Amz-Function-Error': 'Unhandled' });
  response.end(JSON.stringify({ errorType: name, errorMessage: message, trace: [] }));
};

/** Lambda returns the last 4 kB of the log of an invocation. */
const endOf = (lines: readonly string[]): string =>
  Buffer.from(lines.map((line) => `${line}\n`).join(''))
    .subarray(-4096)
    .toString('base64');

/**
 * Starts Invoke of Lambda for versions by `<function name>:<version>`. It returns the log of each if it is asked for it. `invoked`: which it was asked for, in order;
 * `mostAtOnce`: how many at a time.
 */
export const startLambda = async (versions: Readonly<Record<string, Version>>) => {
  const invoked: string[] = [];
  const logs = new AsyncLocalStorage<string[]>();
  const restoreLog = redirectLog((line) => logs.getStore()?.push(line));
  let running = 0;
  let mostAtOnce = 0;
  const server = createServer(async (request, response) => {
    const [, name = ''] = /^\/2015-03-31\/functions\/([^/]+)\/invocations$/.exec(request.url ?? '') ?? [];
    const version = decodeURIComponent(name);
    invoked.push(version);
    running += 1;
    mostAtOnce = Math.max(mostAtOnce, running);
    const lines: string[] = [];
    const withLog = () =>
      request.headers['x-amz-log-type'] === 'Tail'
        ? response.setHeader('X-Amz-Log-Result', endOf(lines))
        : response;
    try {
      const event = JSON.parse(Buffer.concat(await request.toArray()).toString());
      const run = versions[version];
      if (run === undefined) throw new Refusal(404, 'ResourceNotFoundException');
      const payload = await logs.run(lines, async () => run(event));
      withLog().end(JSON.stringify(payload ?? null));
    } catch (error) {
      respond(withLog(), error);
    } finally {
      running -= 1;
    }
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const client = new LambdaClient({
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    region: 'us-east-1',
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
    // Its waits are seconds.
    maxAttempts: 1,
  });
  const stop = (): void => {
    restoreLog();
    client.destroy();
    server.closeAllConnections();
    server.close();
  };
  return { client, invoked, mostAtOnce: () => mostAtOnce, stop };
};
