import httpJsonBodyParser from '@middy/http-json-body-parser';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { problem } from '#shared/problems.ts';
import { headerOf } from './event.ts';

/** The largest body, in bytes. */
export const MAX_BODY_BYTES = 16 * 1024;

const JSON_MEDIA_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;

/** The character that a decoder writes for bytes that are not UTF-8. Accepting it would store a name that the caller did not send. */
const REPLACEMENT_CHARACTER = '\uFFFD';

const jsonBodyParser = httpJsonBodyParser({ disableContentTypeCheck: true });

/**
 * Parses the JSON body of a request. Throws `body_too_large`, `unsupported_media_type` or `malformed_json`, the last one also for keys that
 * could pollute a prototype and for very deep nesting.
 */
export const parseJsonBody = (event: APIGatewayProxyEvent): unknown => {
  const body = event.body ?? '';
  if (Buffer.byteLength(body, event.isBase64Encoded ? 'base64' : 'utf8') > MAX_BODY_BYTES) {
    throw problem('body_too_large');
  }
  const contentType = headerOf(event, 'content-type');
  if (contentType === undefined ? body !== '' : !JSON_MEDIA_TYPE.test(contentType.trim())) {
    throw problem('unsupported_media_type');
  }
  const text = event.isBase64Encoded ? Buffer.from(body, 'base64').toString() : body;
  if (text.includes(REPLACEMENT_CHARACTER)) throw problem('malformed_json');
  const request = { event: { ...event, body: text, isBase64Encoded: false } };
  try {
    jsonBodyParser.before?.(request as Parameters<NonNullable<typeof jsonBodyParser.before>>[0]);
    return request.event.body;
  } catch {
    // Without the parser's error as its cause, since that holds the text.
    throw problem('malformed_json');
  }
};
