import { createServer } from 'node:https';
import { type Call, listen, type Reply, textOf } from './recorder.ts';

/** What calls of two runs have in common: the operation and the kinds of items, but no ids, times or tokens. */
const signatureOf = ({ target, method, path, body }: Pick<Call, 'target' | 'method' | 'path' | 'body'>) =>
  target === undefined
    ? `${method} ${path.split('?')[0]}`
    : [target, ...(body.match(/"(?:[A-Z]+#|[a-z-]+-secret")/g) ?? [])].join(' ');

/**
 * Starts a server that responds to each call as it was recorded, at once, so that only the caller is measured. It uses TLS: with an
 * http:// endpoint the SDK would load modules that it does not need on AWS.
 */
export const startReplay = async (tls: { readonly cert: string; readonly key: string }) => {
  let recorded = new Map<string, { readonly replies: Reply[]; next: number }>();
  let connections = 0;
  const server = createServer(tls, async (request, response) => {
    const body = await textOf(request);
    const target = request.headers['x-amz-target'] as string | undefined;
    const signature = signatureOf({ target, method: request.method ?? '', path: request.url ?? '', body });
    const known = recorded.get(signature);
    const reply = known?.replies[known.next++ % known.replies.length];
    if (reply === undefined) console.error(`this call was not recorded: ${signature}`);
    response.writeHead(reply?.status ?? 400, { 'Content-Type': reply?.type ?? 'application/x-amz-json-1.0' });
    response.end(reply?.body ?? '{"__type":"ValidationException"}');
  });
  server.on('secureConnection', () => {
    connections += 1;
  });
  const endpoint = await listen(server, 'https');
  return {
    ...endpoint,
    /** Responds from now on to these calls. `recorderUrl` in a response becomes the URL of this server. */
    replay(calls: readonly Call[], recorderUrl: string): void {
      recorded = new Map();
      connections = 0;
      for (const call of calls) {
        const signature = signatureOf(call);
        const known = recorded.get(signature) ?? { replies: [], next: 0 };
        known.replies.push({
          ...call.response,
          body: call.response.body.replaceAll(recorderUrl, endpoint.url),
        });
        recorded.set(signature, known);
      }
    },
    connections: () => connections,
  };
};
