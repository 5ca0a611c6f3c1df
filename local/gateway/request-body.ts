import type { IncomingMessage } from 'node:http';

/** The most that API Gateway takes: 10 MB. */
export const MAX_BODY_BYTES = 10 * 1024 * 1024;

/** A client that sends this much more than is taken is cut off; until then the rest is read and forgotten, so that it hears why. */
const MAX_DISCARDED_BYTES = 64 * 1024 * 1024;

/** What was sent, or that it was too much. */
export type ReceivedBody = Buffer | 'too_large';

/**
 * Reads a body. It never holds more than `limit` bytes: of a larger one it keeps nothing, and what is still to come is thrown away as
 * it comes. Rejects if the client hangs up before the end.
 */
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
    request.once('close', () => reject(new Error('the client hung up')));
  });
