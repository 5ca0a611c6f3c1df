import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { mock } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createServer as createTlsServer } from 'node:tls';
import { Worker } from 'node:worker_threads';
import selfsigned from 'selfsigned';
import { exchange, safeCause } from '#shared/providers/exchange.ts';
import { everythingIn, failureOf, neverAborted, summaryOf } from './failure.ts';
import { type ScriptedReply, scriptedServer } from './scripted-server.ts';

const SITE = { provider: 'acme', operation: 'o' };
/** Values in the URL, the headers and the body of every request here, and where Node keeps a response. No error may contain them. */
const SECRETS = /sesame|9990000010|09990000001|rawPacket/;

const get = (baseUrl: string, signal = neverAborted()) =>
  exchange(
    SITE,
    {
      url: `${baseUrl}/v1/sesame-in-the-path/lookup?nationalCode=9990000010`,
      headers: { authorization: 'Bearer sesame' },
      body: new URLSearchParams({ receptor: '09990000001', token: 'sesame' }),
    },
    signal,
  );

const server = scriptedServer();

const exchangeFor = (reply: ScriptedReply) => {
  server.replyWith(() => reply);
  return get(server.baseUrl);
};

it('a request names its sender, since some firewalls reject one without a user agent, and asks for JSON without compression', async () => {
  await exchangeFor({ status: 200, json: {} });
  expect(server.requests[0]?.headers).toMatchObject({
    accept: 'application/json',
    'accept-encoding': 'identity',
    'user-agent': 'buyer-linking',
  });
});

describe('a response', () => {
  it('is returned as its status and its JSON, of up to 64 KB', async () => {
    expect(await exchangeFor({ status: 418, json: { a: [1] } })).toEqual({ status: 418, json: { a: [1] } });
    const json = 'x'.repeat(64 * 1024 - 2);
    expect(await exchangeFor({ status: 200, json })).toEqual({ status: 200, json });
  });

  it('is malformed if it is one byte larger than 64 KB', async () => {
    const failure = await failureOf(exchangeFor({ status: 200, json: 'x'.repeat(64 * 1024 - 1) }));
    expect(summaryOf(failure)).toBe('malformed, possibly_sent, down');
  });
});

/** Starts a server that passes each connection to `serve`, for as long as `use` runs. */
const withRawServer = async <T>(
  serve: (socket: Socket) => void,
  use: (port: number) => Promise<T>,
): Promise<T> => {
  const raw = createServer((socket) => {
    socket.on('error', () => {});
    // A socket without a reader does not notice that the other side has closed it.
    socket.resume();
    serve(socket);
  });
  raw.listen(0, '127.0.0.1');
  await once(raw, 'listening');
  try {
    return await use((raw.address() as { port: number }).port);
  } finally {
    raw.close();
    await once(raw, 'close');
  }
};

/** Listens on a port of loopback, whose number it posts, and blocks before it accepts a connection. */
const NEVER_ACCEPTS = `
  const { parentPort } = require('node:worker_threads');
  const server = require('node:net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    parentPort.postMessage(server.address().port);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  });`;

const afterTheRequest = (act: (socket: Socket) => void) => (socket: Socket) =>
  socket.once('data', () => act(socket));

describe('a failed exchange', () => {
  it.each([
    ['the connection ends', (socket: Socket) => socket.end()],
    [
      'the response is not HTTP and repeats the request',
      (socket: Socket) => socket.end('no HTTP: sesame 9990000010 09990000001'),
    ],
    ['the headers never end', (socket: Socket) => socket.end(`HTTP/1.1 200 OK\r\nX: ${'x'.repeat(100_000)}`)],
  ])('is possibly sent if, after the request, %s', async (_how, act) => {
    const failure = await withRawServer(afterTheRequest(act), (port) =>
      failureOf(get(`http://127.0.0.1:${port}`)),
    );
    expect(summaryOf(failure)).toBe('transport, possibly_sent, down');
    expect(everythingIn(failure)).not.toMatch(SECRETS);
  });

  it('is malformed if the provider answers HTTP 101, and its connection is closed', async () => {
    const closed = Promise.withResolvers<unknown>();
    const failure = await withRawServer(
      (socket) => {
        socket.once('data', () =>
          socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: sesame\r\n\r\n'),
        );
        socket.once('close', closed.resolve);
      },
      (port) => failureOf(get(`http://127.0.0.1:${port}`)),
    );
    await closed.promise;
    expect(summaryOf(failure)).toBe('malformed, possibly_sent, down');
    expect(everythingIn(failure)).not.toMatch(SECRETS);
  });

  it('has reached nobody if the port is closed', async () => {
    const port = await withRawServer(
      () => {},
      async (closed) => closed,
    );
    const failure = await failureOf(get(`http://127.0.0.1:${port}`));
    expect(summaryOf(failure)).toBe('transport, not_reached, down');
    expect(everythingIn(failure)).not.toMatch(SECRETS);
    expect(everythingIn(failure)).toContain('ECONNREFUSED');
  });

  it('has reached nobody if the TLS handshake meets plain text', async () => {
    const failure = await withRawServer(
      afterTheRequest((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')),
      (port) => failureOf(get(`https://127.0.0.1:${port}`)),
    );
    expect(summaryOf(failure)).toBe('transport, not_reached, down');
    expect(everythingIn(failure)).not.toMatch(SECRETS);
  });

  it('has reached nobody if the connection is reset during the TLS handshake', async () => {
    const failure = await withRawServer(
      afterTheRequest((socket) => socket.resetAndDestroy()),
      (port) => failureOf(get(`https://127.0.0.1:${port}`)),
    );
    expect(summaryOf(failure)).toBe('transport, not_reached, down');
  });

  it('has reached nobody if nobody vouches for the certificate, and the server receives nothing', async () => {
    const received: string[] = [];
    const untrusted = selfsigned.generate([{ name: 'commonName', value: '127.0.0.1' }], { keySize: 2048 });
    const tls = createTlsServer({ cert: untrusted.cert, key: untrusted.private }, (socket) => {
      socket.on('error', () => {}).on('data', (data) => received.push(String(data)));
    });
    tls.on('tlsClientError', () => {});
    tls.listen(0, '127.0.0.1');
    await once(tls, 'listening');
    const { port } = tls.address() as { port: number };
    const failure = await failureOf(get(`https://127.0.0.1:${port}`));
    tls.close();
    await once(tls, 'close');
    expect(summaryOf(failure)).toBe('transport, not_reached, down');
    expect(everythingIn(failure)).toContain('DEPTH_ZERO_SELF_SIGNED_CERT');
    expect(received).toEqual([]);
  });

  describe('without a connection', () => {
    beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
    afterEach(() => mock.timers.reset());

    /** Returns the failure of a request to a port where nobody answers, and how far it was a millisecond before its time was over. */
    const failureAfter2s = async (url: string, arrived: Promise<unknown>) => {
      let isPending = true;
      const caller = new AbortController();
      const failing = failureOf(get(url, caller.signal)).finally(() => {
        isPending = false;
      });
      await arrived;
      mock.timers.tick(1999);
      await nextTurn();
      const before = isPending ? 'pending' : 'over';
      mock.timers.tick(1);
      await nextTurn();
      caller.abort();
      return `${before}, then ${summaryOf(await failing)}`;
    };

    it('has reached nobody after 2 seconds if the server accepts it and never speaks TLS', async () => {
      const hello = Promise.withResolvers<unknown>();
      const failure = await withRawServer(afterTheRequest(hello.resolve), (port) =>
        failureAfter2s(`https://127.0.0.1:${port}`, hello.promise),
      );
      expect(failure).toBe('pending, then timeout, not_reached, down');
    });

    it('has reached nobody after 2 seconds if the backlog of the port is full', async () => {
      const server = new Worker(NEVER_ACCEPTS, { eval: true });
      const [port] = (await once(server, 'message')) as [number];
      // Linux accepts one more than the backlog by itself, and drops every later one.
      const waiting = Array.from({ length: 4 }, () => connect(port, '127.0.0.1').on('error', () => {}));
      await Promise.all(waiting.slice(0, 2).map((socket) => once(socket, 'connect')));
      const failure = await failureAfter2s(`http://127.0.0.1:${port}`, nextTurn());
      for (const socket of waiting) socket.destroy();
      await server.terminate();
      expect(failure).toBe('pending, then timeout, not_reached, down');
    });

    it('has no other limit of two seconds once it is made', async () => {
      server.replyWith(() => {
        mock.timers.tick(2000);
        return { status: 200, json: {} };
      });
      expect((await get(server.baseUrl)).status).toBe(200);
    });
  });

  it('is possibly sent if a kept connection closes when it is used again, and the next request works', async () => {
    const connections: Socket[] = [];
    const closeAtTheSecondRequest = (socket: Socket) => {
      const isFirst = connections.push(socket) === 1;
      socket.once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}');
        if (isFirst) socket.once('data', () => socket.resetAndDestroy());
      });
    };
    await withRawServer(closeAtTheSecondRequest, async (port) => {
      const request = () => get(`http://127.0.0.1:${port}`);
      expect((await request()).status).toBe(200);
      await nextTurn();
      expect(summaryOf(await failureOf(request()))).toBe('transport, possibly_sent, down');
      expect((await request()).status).toBe(200);
      expect(connections).toHaveLength(2);
      connections[1]?.destroy();
    });
  });

  const timeUp = () => new DOMException('the time is over', 'TimeoutError');

  it.each([
    ['timeout, possibly_sent, down', timeUp()],
    ['aborted, possibly_sent, unknown', undefined],
  ] as const)(
    'is %s when its signal aborts after it arrived, and closes the connection',
    async (said, why) => {
      const caller = new AbortController();
      const failure = await withRawServer(
        afterTheRequest(() => caller.abort(why)),
        (port) => failureOf(get(`http://127.0.0.1:${port}`, caller.signal)),
      );
      expect(summaryOf(failure)).toBe(said);
      expect(everythingIn(failure)).not.toMatch(SECRETS);
    },
  );

  it.each([
    ['timeout, not_reached, down', timeUp()],
    ['aborted, not_reached, unknown', undefined],
  ] as const)('is %s when its signal aborts before there is a connection', async (said, why) => {
    const failure = await failureOf(get(server.baseUrl, AbortSignal.abort(why)));
    expect(summaryOf(failure)).toBe(said);
  });
});

describe('exchange', () => {
  it('reuses a connection unless a request requires its own', async () => {
    const respond = (socket: Socket) => {
      socket.on('data', () => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}'));
    };
    const connections: Socket[] = [];
    const count = (socket: Socket) => {
      connections.push(socket);
      respond(socket);
    };
    await withRawServer(count, async (port) => {
      const request = (ownConnection: boolean) =>
        exchange(SITE, { url: `http://127.0.0.1:${port}`, ownConnection }, neverAborted());
      for (let count = 0; count < 5; count += 1) {
        await request(false);
        // The client returns a connection to its pool at the end of the turn of the event loop.
        await nextTurn();
      }
      expect(connections).toHaveLength(1);
      for (let count = 0; count < 5; count += 1) await request(true);
      expect(connections).toHaveLength(6);
      connections[0]?.destroy();
    });
  });

  describe('safeCause', () => {
    it('copies the name and the code of an error', () => {
      const error = Object.assign(new TypeError('GET sesame failed'), { code: 'ECONNRESET', url: 'sesame' });
      const copy = safeCause(error);
      expect([copy.name, copy.message]).toEqual(['TypeError', 'ECONNRESET']);
      expect(everythingIn(copy)).not.toMatch(SECRETS);
    });

    it.each([
      new Error('sesame'),
      Object.assign(new Error('sesame'), { code: 'sesame' }),
      Object.assign(new Error('sesame'), { code: 42, name: 'the sesame' }),
      'sesame',
      undefined,
    ])('copies nothing else (case %#)', (error) => {
      expect(everythingIn(safeCause(error))).not.toMatch(SECRETS);
    });
  });
});
