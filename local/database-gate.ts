import { connect, createServer, type Server, type Socket } from 'node:net';

/** The address of the database behind the gate, and the credentials that open the gate. */
export interface GateOptions {
  readonly host: string;
  readonly port: number;
  /** Chosen at random for each run of the service. */
  readonly accessKeyId: string;
}

/** Longer than any head that the SDK sends. */
const MAX_HEAD_BYTES = 16_384;
const HEAD_TIMEOUT_MS = 10_000;
const END_OF_HEAD = '\r\n\r\n';

const REFUSAL_BODY = JSON.stringify({
  __type: 'com.amazon.coral.service#UnrecognizedClientException',
  message: 'The request is not signed with the credentials of the running service.',
});

/** The error that DynamoDB itself returns for an unknown access key. It has no CORS header, so a browser's preflight request fails. */
const REFUSAL = [
  'HTTP/1.1 400 Bad Request',
  'Content-Type: application/x-amz-json-1.0',
  `Content-Length: ${Buffer.byteLength(REFUSAL_BODY)}`,
  'Connection: close',
  '',
  REFUSAL_BODY,
].join('\r\n');

/**
 * A server that forwards TCP connections to the database. It reads the head of the first request of a connection: one that is not signed
 * with the run's access key, or that comes from a web page (`Origin`), is refused. The embedded database itself checks neither.
 * The bytes after that head are forwarded unread, so the cost per request is small.
 */
export const databaseGate = (options: GateOptions): Server =>
  createServer({ noDelay: true }, (client) => {
    client.on('error', () => client.destroy());
    client.setTimeout(HEAD_TIMEOUT_MS, () => client.destroy());
    let received: Buffer = Buffer.alloc(0);
    const onData = (chunk: Buffer): void => {
      received = Buffer.concat([received, chunk]);
      const headBytes = received.indexOf(END_OF_HEAD);
      if (headBytes === -1 && received.length <= MAX_HEAD_BYTES) return;
      client.off('data', onData).setTimeout(0);
      const head = received.subarray(0, Math.max(0, headBytes)).toString('latin1');
      if (isSignedByService(head, options.accessKeyId)) forward(client, received, options);
      else client.end(REFUSAL);
    };
    client.on('data', onData);
  });

const isSignedByService = (head: string, accessKeyId: string): boolean => {
  const lines = head.split('\r\n').map((line) => line.toLowerCase());
  const credential = `authorization: aws4-hmac-sha256 credential=${accessKeyId.toLowerCase()}/`;
  return (
    lines.some((line) => line.startsWith(credential)) && !lines.some((line) => line.startsWith('origin:'))
  );
};

const forward = (client: Socket, received: Buffer, { host, port }: GateOptions): void => {
  const database = connect({ host, port, noDelay: true });
  database.on('error', () => client.destroy());
  client.on('close', () => database.destroy());
  database.on('close', () => client.destroy());
  database.write(received);
  client.pipe(database).pipe(client);
};
