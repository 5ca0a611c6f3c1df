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

type Script = (request: ReceivedRequest) => ScriptedReply | Promise<ScriptedReply>;

/** A provider of a test file's own that returns scripted replies over a real socket, from its first test to its last. */
export const scriptedServer = () => {
  const requests: ReceivedRequest[] = [];
  let script: Script = () => ({ status: 500 });
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
  beforeAll(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterAll(async () => {
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  });
  return {
    get baseUrl() {
      return `http://127.0.0.1:${(server.address() as { port: number }).port}`;
    },
    requests: requests as readonly ReceivedRequest[],
    /** Sets the reply to later requests. */
    replyWith(next: Script) {
      requests.length = 0;
      script = next;
    },
  };
};
