import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { exchange } from '#shared/providers/exchange.ts';
import { safeCause } from '#shared/providers/safe-cause.ts';
import { everythingIn, failureOf, gistOf, noHurry } from './failure.ts';
import { type ScriptedReply, type ScriptedServer, startScriptedServer } from './scripted-server.ts';

const SITE = { provider: 'acme', operation: 'o' };
/** What stands in the URL, the headers and the body of every request here, and must stand in no error. */
const SECRETS = /sesame|9990000010|09990000001/;

const get = (baseUrl: string, signal = noHurry()) =>
  exchange(
    SITE,
    {
      method: 'POST',
      url: `${baseUrl}/v1/sesame-in-the-path/lookup?nationalCode=9990000010`,
      headers: { authorization: 'Bearer sesame' },
      body: 'receptor=09990000001&token=sesame',
    },
    signal,
  );

let server: ScriptedServer;
beforeAll(async () => {
  server = await startScriptedServer();
});
afterAll(() => server.close());

const askFor = (reply: ScriptedReply) => {
  server.answer(() => reply);
  return get(server.baseUrl);
};

describe('an answer', () => {
  it('is its status and its JSON', async () => {
    expect(await askFor({ status: 418, json: { a: [1] } })).toEqual({ status: 418, json: { a: [1] } });
  });

  it('that is no JSON has none', async () => {
    expect(await askFor({ status: 200, text: '<html>' })).toEqual({ status: 200, json: undefined });
  });

  it('may be as large as 64 KB', async () => {
    const json = 'x'.repeat(64 * 1024 - 2);
    expect((await askFor({ status: 200, json })).json).toHaveLength(64 * 1024 - 2);
  });

  it('of a byte more is not read', async () => {
    const failure = await failureOf(askFor({ status: 200, json: 'x'.repeat(64 * 1024 - 1) }));
    expect(gistOf(failure)).toEqual({ reason: 'malformed', refused: false });
  });
});

/** A server that does as told with each connection. */
const startRawServer = async (serve: (socket: Socket) => void): Promise<{ server: Server; port: number }> => {
  const raw = createServer((socket) => {
    socket.on('error', () => {});
    // Without a reader a socket does not notice that the other side has gone.
    socket.resume();
    serve(socket);
  });
  raw.listen(0, '127.0.0.1');
  await once(raw, 'listening');
  return { server: raw, port: (raw.address() as { port: number }).port };
};

const withRawServer = async <T>(
  serve: (socket: Socket) => void,
  use: (port: number) => Promise<T>,
): Promise<T> => {
  const { server: raw, port } = await startRawServer(serve);
  try {
    return await use(port);
  } finally {
    raw.close();
    await once(raw, 'close');
  }
};

const afterTheRequest = (act: (socket: Socket) => void) => (socket: Socket) =>
  socket.once('data', () => act(socket));

describe('no answer', () => {
  it.each([
    ['the connection is reset', (socket: Socket) => socket.resetAndDestroy()],
    ['the connection ends', (socket: Socket) => socket.end()],
    ['what comes is not HTTP', (socket: Socket) => socket.end(Buffer.from([0x15, 3, 1, 0, 2, 2, 40]))],
    [
      'what comes is not HTTP, and repeats what was sent',
      (socket: Socket) => socket.end('no HTTP: sesame 9990000010 09990000001'),
    ],
    [
      'the body ends too early',
      (socket: Socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"sesame":'),
    ],
    ['the headers never end', (socket: Socket) => socket.end(`HTTP/1.1 200 OK\r\nX: ${'x'.repeat(100_000)}`)],
  ])('after the request is a failure that is not sure of anything: %s', async (_how, act) => {
    const failure = await withRawServer(afterTheRequest(act), (port) =>
      failureOf(get(`http://127.0.0.1:${port}`)),
    );
    expect(gistOf(failure)).toEqual({ reason: 'transport', refused: false });
    expect(everythingIn(failure)).not.toMatch(SECRETS);
  });

  it('where nobody listens means that nothing arrived', async () => {
    const port = await withRawServer(
      () => {},
      async (closed) => closed,
    );
    const failure = await failureOf(get(`http://127.0.0.1:${port}`));
    expect(gistOf(failure)).toEqual({ reason: 'transport', refused: true });
    expect(everythingIn(failure)).not.toMatch(SECRETS);
    expect(everythingIn(failure)).toContain('ECONNREFUSED');
  });

  it('where a TLS URL meets plain text means that nothing arrived', async () => {
    const failure = await withRawServer(
      afterTheRequest((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')),
      (port) => failureOf(get(`https://127.0.0.1:${port}`)),
    );
    expect(gistOf(failure)).toEqual({ reason: 'transport', refused: true });
    expect(everythingIn(failure)).not.toMatch(SECRETS);
  });

  it.each([
    ['timeout', () => AbortSignal.timeout(20)],
    [
      'aborted',
      () => {
        const leaving = new AbortController();
        setImmediate(() => leaving.abort());
        return leaving.signal;
      },
    ],
    ['aborted', () => AbortSignal.abort()],
  ] as const)('in time is %s, and closes the connection', async (reason, signal) => {
    const failure = await withRawServer(
      () => {},
      (port) => failureOf(get(`http://127.0.0.1:${port}`, signal())),
    );
    expect(gistOf(failure)).toEqual({ reason, refused: false });
    expect(everythingIn(failure)).not.toMatch(SECRETS);
  });
});

it('uses a connection again, unless a request wants its own', async () => {
  const answer = (socket: Socket) => {
    socket.on('data', () => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}'));
  };
  let connections = 0;
  const count = (socket: Socket) => {
    connections += 1;
    answer(socket);
  };
  await withRawServer(count, async (port) => {
    const ask = (ownConnection: boolean) =>
      exchange(SITE, { method: 'GET', url: `http://127.0.0.1:${port}`, ownConnection }, noHurry());
    for (let request = 0; request < 5; request += 1) {
      await ask(false);
      // The client puts a connection back when the turn of the event loop in which it was used is over.
      await nextTurn();
    }
    const kept = connections;
    for (let request = 0; request < 5; request += 1) await ask(true);
    expect([kept, connections >= 5]).toEqual([1, true]);
  });
});

it('follows no redirect: credentials must not travel on', async () => {
  const requests: string[] = [];
  const reply = await withRawServer(
    afterTheRequest((socket) => {
      requests.push('one');
      const { port } = socket.address() as { port: number };
      socket.end(`HTTP/1.1 307 Moved\r\nLocation: http://127.0.0.1:${port}/\r\nContent-Length: 0\r\n\r\n`);
    }),
    (port) => get(`http://127.0.0.1:${port}`),
  );
  expect([reply.status, requests]).toEqual([307, ['one']]);
});

describe('what is kept of an error', () => {
  it('is its name and its code', () => {
    const error = new TypeError('fetch of sesame failed', {
      cause: Object.assign(new Error('sesame'), { code: 'ECONNRESET', url: 'sesame' }),
    });
    const kept = safeCause(error);
    expect([kept.name, kept.message]).toEqual(['TypeError', 'ECONNRESET']);
    expect(everythingIn(kept)).not.toMatch(SECRETS);
  });

  it.each([
    new Error('sesame'),
    Object.assign(new Error('sesame'), { code: 'sesame' }),
    Object.assign(new Error('sesame'), { code: 42, name: 'the sesame' }),
    'sesame',
    undefined,
  ])('is nothing else: %#', (error) => {
    expect(everythingIn(safeCause(error))).not.toMatch(SECRETS);
  });
});
