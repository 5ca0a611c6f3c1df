import type { IncomingMessage } from 'node:http';

/** The payload limit of API Gateway: 10 MB. */
export const MAX_BODY_BYTES = 10 * 1024 * 1024;

/** The connection is closed after this many bytes over the limit. Until then the rest is read and dropped, so that the client gets the response. */
const MAX_DISCARDED_BYTES = 64 * 1024 * 1024;

/** The bytes of a body, or `too_large`. */
export type ReceivedBody = Buffer | 'too_large';

/** Reads a body and holds at most `limit` bytes of it. Rejects if the client closes the connection before the end. */
export const readBody = (request: IncomingMessage, limit = MAX_BODY_BYTES): Promise<ReceivedBody> =>
  new Promise((resolve, reject) => {
    let chunks: Buffer[] = [];
    let received = 0;
    const refuse = (): void => {
      chunks = [];
      resolve('too_large');
    };
    if (Number(request.headers['content-length'] ?? 0) > limit) refuse();
    request.on('data', (chunk: Buffer) => {
      received += chunk.length;
      if (received > limit + MAX_DISCARDED_BYTES) request.destroy();
      else if (received > limit) refuse();
      else chunks.push(chunk);
    });
    request.once('end', () => resolve(received > limit ? 'too_large' : Buffer.concat(chunks)));
    request.once('error', reject);
    request.once('close', () => reject(new Error('the client closed the connection')));
  });
