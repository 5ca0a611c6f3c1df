import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { LambdaClient } from '@aws-sdk/client-lambda';

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

/** Starts Invoke of Lambda for versions by `<function name>:<version>`. `invoked`: which it was asked for, in order. */
export const startLambda = async (versions: Readonly<Record<string, Version>>) => {
  const invoked: string[] = [];
  const server = createServer(async (request, response) => {
    const [, name = ''] = /^\/2015-03-31\/functions\/([^/]+)\/invocations$/.exec(request.url ?? '') ?? [];
    const version = decodeURIComponent(name);
    invoked.push(version);
    try {
      const event = JSON.parse(Buffer.concat(await request.toArray()).toString());
      response.end(JSON.stringify((await versions[version]?.(event)) ?? null));
    } catch (error) {
      respond(response, error);
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
    client.destroy();
    server.closeAllConnections();
    server.close();
  };
  return { client, invoked, stop };
};
