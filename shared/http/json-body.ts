import httpJsonBodyParser from '@middy/http-json-body-parser';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { problem } from '#shared/problems.ts';
import { headerOf } from './event.ts';

const JSON_MEDIA_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;

/** What stands where the bytes were not UTF-8: to take it would be to keep a name that nobody sent. */
const REPLACEMENT_CHARACTER = '\uFFFD';

const jsonBodyParser = httpJsonBodyParser({ disableContentTypeCheck: true });

const parseText = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    throw problem('malformed_json');
  }
};

/**
 * Leaves the parsed body in the event, or throws `unsupported_media_type` or `malformed_json`. The parser also refuses keys that could
 * poison a prototype; to us those are fields like any other, and unknown ones, which `parseInput` says by name. Its own errors hold
 * the raw body, so none of them is passed on.
 */
export const parseJsonBody = (event: APIGatewayProxyEvent): void => {
  const contentType = headerOf(event, 'content-type');
  const isEmpty = event.body === null || event.body === undefined || event.body === '';
  if (contentType === undefined ? !isEmpty : !JSON_MEDIA_TYPE.test(contentType.trim())) {
    throw problem('unsupported_media_type');
  }
  if (isEmpty) throw problem('malformed_json');
  const sent = event.isBase64Encoded
    ? Buffer.from(event.body as string, 'base64').toString()
    : (event.body as string);
  if (sent.includes(REPLACEMENT_CHARACTER)) throw problem('malformed_json');
  try {
    jsonBodyParser.before?.({ event } as Parameters<NonNullable<typeof jsonBodyParser.before>>[0]);
  } catch {
    (event as { body: unknown }).body = parseText(sent);
  }
};
