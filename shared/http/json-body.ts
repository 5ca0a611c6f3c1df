import httpJsonBodyParser from '@middy/http-json-body-parser';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { problem } from '#shared/problems.ts';
import { headerOf } from './event.ts';

/** The largest body, in bytes. */
export const MAX_BODY_BYTES = 16 * 1024;

const JSON_MEDIA_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;

/** What a decoder puts in place of bytes that are not UTF-8. To accept it would store a name that nobody sent. */
const REPLACEMENT_CHARACTER = '\uFFFD';

const jsonBodyParser = httpJsonBodyParser({ disableContentTypeCheck: true });

/** The parser's error for a `__proto__` or `constructor` key, which names the key as its cause. */
const isForbiddenKey = (error: unknown): boolean =>
  error instanceof Error && (error.cause as { message?: unknown } | undefined)?.message === undefined;

/**
 * Replaces the event's body by its parsed JSON. Throws `body_too_large`, `unsupported_media_type` or `malformed_json`. A key that
 * could pollute a prototype is an unknown field like any other, which `parseInput` reports by name; no other JSON is parsed twice.
 * The parser's own errors hold the raw body, so none is passed on.
 */
export const parseJsonBody = (event: APIGatewayProxyEvent): void => {
  const body = event.body ?? '';
  if (Buffer.byteLength(body, event.isBase64Encoded ? 'base64' : 'utf8') > MAX_BODY_BYTES) {
    throw problem('body_too_large');
  }
  const contentType = headerOf(event, 'content-type');
  if (contentType === undefined ? body !== '' : !JSON_MEDIA_TYPE.test(contentType.trim())) {
    throw problem('unsupported_media_type');
  }
  const text = event.isBase64Encoded ? Buffer.from(body, 'base64').toString() : body;
  if (text === '' || text.includes(REPLACEMENT_CHARACTER)) throw problem('malformed_json');
  try {
    jsonBodyParser.before?.({ event } as Parameters<NonNullable<typeof jsonBodyParser.before>>[0]);
  } catch (error) {
    if (!isForbiddenKey(error)) throw problem('malformed_json');
    (event as { body: unknown }).body = JSON.parse(text);
  }
};
