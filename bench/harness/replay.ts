import { createServer } from 'node:https';
import { text } from 'node:stream/consumers';
import selfsigned from 'selfsigned';
import { type Call, listen, type Reply } from './recorder.ts';

/** What calls of two runs have in common: the operation and the kinds of items, but no ids, times or tokens. */
const signatureOf = ({ target, method, path, body }: Pick<Call, 'target' | 'method' | 'path' | 'body'>) =>
  target === undefined
    ? `${method} ${path.split('?')[0]}`
    : [target, ...(body.match(/"(?:[A-Z]+#|[a-z-]+-secret")/g) ?? [])].join(' ');

/**
 * Starts a server that responds to each call as it was recorded, at once, so that only the caller is measured. Equal calls get their
 * recorded responses in turns. It uses TLS: with an http:// endpoint the SDK would load modules that it does not need on AWS.
 */
export const startReplay = async () => {
  const { cert, private: key } = selfsigned.generate([{ name: 'commonName', value: 'bench' }], {
    days: 1,
    keySize: 2048,
    algorithm: 'sha256',
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] }],
  });
  const replies = new Map<string, Reply[]>();
  let connections = 0;
  const server = createServer({ cert, key }, async (request, response) => {
    const { headers, method = '', url: path = '' } = request;
    const target = headers['x-amz-target'] as string | undefined;
    const signature = signatureOf({ target, method, path, body: await text(request) });
    const known = replies.get(signature) ?? [];
    const reply = known.shift();
    if (reply) known.push(reply);
    else console.error(`this call was not recorded: ${signature}`);
    response.writeHead(reply?.status ?? 400, { 'Content-Type': reply?.type ?? 'application/x-amz-json-1.0' });
    response.end(reply?.body ?? '{"__type":"ValidationException"}');
  });
  server.on('secureConnection', () => {
    connections += 1;
  });
  const { url, close } = await listen(server, 'https');
  return {
    url,
    /** The certificate of the server. */
    cert,
    close,
    /** Responds from now on to these calls. `recorderUrl` in a response becomes the URL of this server. */
    replay(calls: readonly Call[], recorderUrl: string): void {
      replies.clear();
      connections = 0;
      for (const call of calls) {
        const known = replies.get(signatureOf(call)) ?? [];
        known.push({ ...call.response, body: call.response.body.replaceAll(recorderUrl, url) });
        replies.set(signatureOf(call), known);
      }
    },
    connections: () => connections,
  };
};
