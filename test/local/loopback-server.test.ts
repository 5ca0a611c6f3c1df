import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, isIPv6, Server } from 'node:net';
import { networkInterfaces } from 'node:os';
import { text } from 'node:stream/consumers';
import { mock } from 'node:test';
import { type LoopbackServer, listenOnLoopback } from '#local/loopback-server.ts';
import { connectTo, otherAddresses } from './other-addresses.ts';

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

  it('is unreachable at every other address of the machine', async () => {
    const { port } = await listen(sayHello);
    await connectTo('127.0.0.1', port);
    for (const host of otherAddresses()) await expect(connectTo(host, port)).rejects.toThrow('ECONNREFUSED');
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
    ['headers that are too large', `GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`],
    ['two lengths', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n'],
    ['no Host', 'GET / HTTP/1.1\r\n\r\n'],
  ])('answers 4xx to %s, closes the connection and serves the next request', async (_what, bytes) => {
    const { port } = await listen(sayHello);
    expect(await sendRaw(port, bytes)).toMatch(/^HTTP\/1\.1 4/);
    expect(await (await fetch(`http://127.0.0.1:${port}`)).text()).toBe('hello');
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

describe('a machine without IPv6', () => {
  const { listen: listenOn } = Server.prototype;

  it.each(['EADDRNOTAVAIL', 'EAFNOSUPPORT'])(
    'is served at 127.0.0.1 alone, where ::1 fails with %s',
    async (code) => {
      mock.method(Server.prototype, 'listen', function (this: Server, port: number, host: string) {
        if (host === '127.0.0.1') return Reflect.apply(listenOn, this, [port, host]);
        process.nextTick(() => this.emit('error', Object.assign(new Error(code), { code })));
        return this;
      });
      const { port } = await listen(sayHello);
      expect(await (await fetch(`http://127.0.0.1:${port}`)).text()).toBe('hello');
      mock.reset();
    },
  );
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
