import { createServer } from 'node:https';
import { text } from 'node:stream/consumers';
import selfsigned from 'selfsigned';
import { type Call, listen } from './recorder.ts';

/** What calls of two runs have in common: the operation and the kinds of items, but no ids, times or tokens. */
const signatureOf = ({ target, method, path, body }: Pick<Call, 'target' | 'method' | 'path' | 'body'>) =>
  target === undefined
    ? `${method} ${path.split('?')[0]}`
    : [target, ...(body.match(/"(?:[A-Z]+#|[a-z-]+-secret")/g) ?? [])].join(' ');

/** The ids in the values of a call to the database, such as the random one by which a write finds itself in a response. */
const idsIn = (body: string): string[] => body.match(/(?<=\{"S":")[\w-]{12,}(?="\})/g) ?? [];

/** Returns the body of the recorded response with the ids of this call in place of those of the recorded one. */
const withIdsOf = (body: string, { body: recordedBody, response }: Call): string =>
  idsIn(body).reduce(
    (reply, id, index) => reply.replaceAll(idsIn(recordedBody)[index] ?? id, id),
    response.body,
  );

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
  const recorded = new Map<string, Call[]>();
  let recorderUrl = '';
  const server = createServer({ cert, key }, async (request, response) => {
    const { headers, method = '', url: path = '' } = request;
    const target = headers['x-amz-target'] as string | undefined;
    const body = await text(request);
    const signature = signatureOf({ target, method, path, body });
    const known = recorded.get(signature) ?? [];
    const call = known.shift();
    if (call === undefined) {
      console.error(`this call was not recorded: ${signature}`);
      response.writeHead(400).end('{"__type":"ValidationException"}');
      return;
    }
    known.push(call);
    response.writeHead(call.response.status, { 'Content-Type': call.response.type });
    response.end(withIdsOf(body, call).replaceAll(recorderUrl, url));
  });
  const { url, close } = await listen(server, 'https');
  return {
    url,
    /** The certificate of the server. */
    cert,
    close,
    /** Responds from now on to these calls. `urlOfRecorder` in a response becomes the URL of this server. */
    replay(calls: readonly Call[], urlOfRecorder: string): void {
      recorded.clear();
      for (const [signature, equal] of Map.groupBy(calls, signatureOf)) recorded.set(signature, equal);
      recorderUrl = urlOfRecorder;
    },
  };
};
