import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';
import { text } from 'node:stream/consumers';
import { type LoopbackServer, listenOnLoopback } from '#local/loopback-server.ts';

/** A machine, or a container, may have no IPv6. */
const hasIpv6 = Object.values(networkInterfaces()).some((all) =>
  all?.some(({ address }) => address === '::1'),
);
const ADDRESSES = hasIpv6 ? ['127.0.0.1', '::1'] : ['127.0.0.1'];

let servers: LoopbackServer[] = [];

const listen = async (
  respond: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
  port = 0,
): Promise<LoopbackServer> => {
  const server = await listenOnLoopback(port, respond);
  servers.push(server);
  return server;
};

const sayHello = async (_request: IncomingMessage, response: ServerResponse): Promise<void> => {
  response.end('hello');
};

afterEach(async () => {
  await Promise.all(servers.map((server) => server.close().catch(() => {})));
  servers = [];
});

/** Sends bytes unchanged and returns everything received until the connection ends. */
const sendRaw = async (port: number, bytes: string): Promise<string> => {
  const socket = connect(port, '127.0.0.1');
  socket.write(bytes);
  return text(socket);
};

describe('listenOnLoopback', () => {
  it('responds on both addresses of localhost', async () => {
    const { port } = await listen(sayHello);
    for (const host of [...ADDRESSES, 'localhost']) {
      const url = new URL(`http://${isIPv6(host) ? `[${host}]` : host}:${port}`);
      expect(await (await fetch(url)).text()).toBe('hello');
    }
  });

  it.each(ADDRESSES)('rejects with one sentence when the port is taken on %s', async (host) => {
    const other = createServer().listen(0, host);
    await once(other, 'listening');
    const { port } = other.address() as { port: number };
    await expect(listen(sayHello, port)).rejects.toThrow(
      `Port ${port} is taken: stop what listens there, or choose another one with --port.`,
    );
    other.close();
    await once(other, 'close');
    await expect(listen(sayHello, port)).resolves.toMatchObject({ port });
  });

  it.each([
    ['what is no HTTP', 'GET / HELLO\r\n\r\n'],
    ['a header without a colon', 'GET / HTTP/1.1\r\nHost: x\r\nnonsense\r\n\r\n'],
    ['headers that are too large', `GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`],
    ['two lengths', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n'],
  ])('returns a problem for %s and serves the next request', async (_what, bytes) => {
    const { port } = await listen(sayHello);
    const [head = '', body = ''] = (await sendRaw(port, bytes)).split('\r\n\r\n');
    expect(head).toMatch(/^HTTP\/1\.1 400 /);
    expect(head).toContain('Content-Type: application/problem+json');
    expect(head).toContain(`X-Request-Id: ${JSON.parse(body).request_id}`);
    expect(JSON.parse(body)).toMatchObject({ status: 400, code: 'malformed_json' });
    expect(await (await fetch(`http://127.0.0.1:${port}`)).text()).toBe('hello');
  });

  it('returns a problem for a body that cannot be read while its request is served', async () => {
    const { port } = await listen(async (request, response) => {
      await text(request);
      response.end('hello');
    });
    const head = 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n';
    expect(await sendRaw(port, `${head}nonsense\r\n`)).toMatch(/^HTTP\/1\.1 400 .*"malformed_json"/s);
    expect(await sendRaw(port, `${head}0\r\n\r\nGET nonsense\r\n\r\n`)).toMatch(/malformed_json/);
  });

  it.each([['a method that HTTP does not know', 'FOO / HTTP/1.1\r\nHost: x\r\n\r\n']])(
    'returns 404 to %s',
    async (_what, bytes) => {
      const { port } = await listen(sayHello);
      const [head = '', body = ''] = (await sendRaw(port, bytes)).split('\r\n\r\n');
      expect(head).toMatch(/^HTTP\/1\.1 404 Not Found/);
      expect(JSON.parse(body)).toMatchObject({ status: 404, code: 'not_found' });
    },
  );

  it.each([
    ['the whole URL', 'GET http://localhost/path?a=1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'],
    ['no Host', 'GET /path?a=1 HTTP/1.1\r\nConnection: close\r\n\r\n'],
  ])('serves a request with %s', async (_what, bytes) => {
    const { port } = await listen(async (request, response) => {
      response.end(request.url);
    });
    expect(await sendRaw(port, bytes)).toMatch(/\r\n\r\n\/path\?a=1$/);
  });

  it('serves the next request after a client closed its connection during a request or before the response', async () => {
    const { port } = await listen(async (request, response) => {
      await text(request);
      response.end('late');
    });
    for (const bytes of [
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhalf',
      'GET / HTTP/1.1\r\nHost: x\r\n\r\n',
      'GE',
    ]) {
      const socket = connect(port, '127.0.0.1');
      await once(socket, 'connect');
      socket.write(bytes);
      socket.destroy();
      await once(socket, 'close');
    }
    expect(await (await fetch(`http://127.0.0.1:${port}`)).text()).toBe('late');
  });

  it('closes the connection of a request that failed, and serves the next one', async () => {
    const { port } = await listen(async (request, response) => {
      if (request.url === '/bad') throw new Error('a fault of the gateway');
      response.end('hello');
    });
    await expect(fetch(`http://127.0.0.1:${port}/bad`)).rejects.toThrow();
    expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(200);
  });
});

describe('close', () => {
  it('lets a request in flight finish, accepts no new one and frees the port', async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
    const server = await listen(async (_request, response) => {
      begin();
      await released;
      response.end('finished');
    });
    const inFlight = fetch(`http://127.0.0.1:${server.port}`);
    await begun;
    const closed = server.close();
    await expect(fetch(`http://127.0.0.1:${server.port}`)).rejects.toThrow();
    release();
    expect(await (await inFlight).text()).toBe('finished');
    await closed;
    await listen(sayHello, server.port);
  });
});
