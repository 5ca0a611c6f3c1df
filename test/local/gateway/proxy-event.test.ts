import { once } from 'node:events';
import { createServer, request as httpRequest, type IncomingMessage, type Server } from 'node:http';
import { connect } from 'node:net';
import type { Context } from 'aws-lambda';
import { invoke } from '#local/gateway/functions.ts';
import { readBody } from '#local/gateway/proxy-event.ts';

const LIMIT = 1000;

let server: Server;
let outcomes: Promise<Buffer>[];

const portOf = (): number => (server.address() as { port: number }).port;

beforeEach(async () => {
  outcomes = [];
  server = createServer((request: IncomingMessage, response) => {
    const outcome = readBody(request, LIMIT);
    outcomes.push(outcome);
    outcome.then(
      (body) => response.end(String(body.length)),
      () => {},
    );
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
});

afterEach(async () => {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});

const post = async (chunks: readonly Buffer[], headers: Readonly<Record<string, string>> = {}) => {
  const request = httpRequest({ port: portOf(), host: '127.0.0.1', method: 'POST', headers });
  for (const chunk of chunks) request.write(chunk);
  request.end();
  const sent = once(request, 'close');
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) text += chunk;
  await sent;
  return text;
};

describe('readBody', () => {
  it('returns a body of exactly the limit, in any number of chunks', async () => {
    expect(await post(Array.from({ length: 10 }, () => Buffer.alloc(LIMIT / 10)))).toBe(String(LIMIT));
  });

  it('returns an empty buffer for a missing body', async () => {
    expect(await post([])).toBe('0');
  });

  it('keeps as many bytes as the limit of a longer body, with and without Content-Length', async () => {
    const body = Buffer.alloc(LIMIT + 1);
    expect(await post([body], { 'Content-Length': String(body.length) })).toBe(String(LIMIT));
    expect(await post([body])).toBe(String(LIMIT));
  });

  it('reads the rest of a body that is too large, so that the client gets the response', async () => {
    expect(await post(Array.from({ length: 64 }, () => Buffer.alloc(65_536)))).toBe(String(LIMIT));
  });

  it('rejects when the client closes the connection before the end', async () => {
    const arrived = once(server, 'request');
    const socket = connect(portOf(), '127.0.0.1');
    socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf');
    await arrived;
    socket.destroy();
    await expect(outcomes[0]).rejects.toThrow();
  });
});

describe('invoke', () => {
  it('rejects after the time of the row', async () => {
    const never = () => new Promise<never>(() => {});
    await expect(invoke({ name: 'slow', timeoutSeconds: 0.05 }, never, {})).rejects.toThrow('slow timed out');
  });

  it('passes the remaining time to the function', async () => {
    const remaining = async (_event: object, context: Context) => context.getRemainingTimeInMillis();
    const left = await invoke({ name: 'fast', timeoutSeconds: 0.05 }, remaining, {});
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThanOrEqual(50);
  });
});
