import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';

/** A request as the server got it. */
export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** What a scripted server says: JSON, or (as text) anything else. */
export interface ScriptedReply {
  readonly status: number;
  readonly json?: unknown;
  readonly text?: string;
}

/** A provider that returns scripted replies over a real socket. */
export interface ScriptedServer {
  readonly baseUrl: string;
  readonly requests: readonly ReceivedRequest[];
  /** Sets the reply to later requests. */
  replyWith(script: (request: ReceivedRequest) => ScriptedReply | Promise<ScriptedReply>): void;
  close(): Promise<void>;
}

export const startScriptedServer = async (): Promise<ScriptedServer> => {
  const requests: ReceivedRequest[] = [];
  let script: (request: ReceivedRequest) => ScriptedReply | Promise<ScriptedReply> = () => ({ status: 500 });
  const server = createServer(async (incoming, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk);
    const { pathname, searchParams } = new URL(incoming.url ?? '/', 'http://scripted');
    const request = {
      method: incoming.method ?? '',
      path: pathname,
      query: searchParams,
      headers: incoming.headers,
      body: Buffer.concat(chunks).toString('utf8'),
    };
    requests.push(request);
    const { status, json, text } = await script(request);
    response.writeHead(status, { 'Content-Type': text === undefined ? 'application/json' : 'text/html' });
    response.end(text ?? JSON.stringify(json));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as { port: number }).port}`,
    requests,
    replyWith(next) {
      requests.length = 0;
      script = next;
    },
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
};

/** A scripted server of a test file's own, there from its first test to its last. */
export const scriptedServer = (): Omit<ScriptedServer, 'close'> => {
  let server: ScriptedServer;
  beforeAll(async () => {
    server = await startScriptedServer();
  });
  afterAll(() => server.close());
  return {
    get baseUrl() {
      return server.baseUrl;
    },
    get requests() {
      return server.requests;
    },
    replyWith: (script) => server.replyWith(script),
  };
};
