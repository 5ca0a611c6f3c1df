import { KEEP_EVENTS_DAYS } from '#shared/events/event.ts';
import { CODE_LIMITS, RESEND_AFTER_SECONDS } from '#shared/one-time-codes/rules.ts';
import { detailsOf, PROBLEMS } from '#shared/problems.ts';
import { planItem, rateLimitHeaders } from '#shared/rate-limits/headers.ts';
import {
  codeLimitTable,
  duration,
  keyLimitTable,
  lockTable,
  planLimitTable,
  reasonTable,
  retryTable,
  table,
} from './limit-tables.ts';
import { PROBLEM_CODES } from './problem-schemas.ts';

const problemTable = (): string =>
  table(
    ['Status', '`code`', 'Meaning'],
    PROBLEM_CODES.map((code) => [String(PROBLEMS[code].status), `\`${code}\``, detailsOf(code)]),
  );

const headerExamples = (): string =>
  Object.entries(rateLimitHeaders([planItem('free', 57, 23)]))
    .map(([name, value]) => `\`${name}: ${value}\``)
    .join(' and ');

const requests = (): string => `## Requests

Send JSON, and your key in \`X-Api-Key\`. Unknown body fields and query parameters are rejected, so a typo is never silently
ignored. Responses may gain fields within v1: ignore fields that you do not know. Persian and Arabic-Indic digits count as
digits. White space, direction marks and zero-width characters around a \`national_id\`, \`birth_date\`, \`phone\`, \`code\` or \`display_name\` are
ignored, as people paste them. Every response carries \`X-Request-Id\`.`;

const errors = (): string => `## Errors

Every error is \`application/problem+json\` (RFC 9457). Decide by \`code\`, \`reason\` and the \`code\` of each of \`errors\`; \`title\` and
\`detail\` are for people. \`retry_after\` is the number of \`Retry-After\`: whole seconds. \`validation_failed\` names every wrong field at once, in \`errors\`.

${problemTable()}

\`reason\` says which of its meanings a code has. A response of the gateway has none.

${reasonTable()}`;

const rateLimits = (): string => `## Rate limits

${planLimitTable()}

The old and the new secret of a key share its limits during a rotation. Every counted response carries
${headerExamples()}: \`r\` requests remain, and the
next window begins in \`t\` seconds. Requests rejected with 401 or 403 are not counted. Over a limit the response is 429
\`rate_limit_exceeded\` with \`Retry-After\` in seconds.

Links, identity checks, SMS and failed verifications have limits of their own. The limit that is used up is an item of both headers.

${keyLimitTable()}`;

const pages = (): string => `## Pages

\`page\` starts at 1. The \`Link\` header names the first, prev, next and last pages (RFC 8288). Users are in the order of linking.
Every page but the last is full. \`total\` counts your linked users, and \`total_pages\` is the number of pages; a page past the end is
empty. New links never move a user; a removal moves the later users up by one. With \`phone\`, both count the matches; encode its
\`+\` as \`%2B\`.

To read all users, start with page 1 and go on with \`after\`, the \`next_after\` of each response, until it is null. Nothing is skipped
or repeated, whatever is linked or removed meanwhile.`;

const events = (): string => `## Events

\`GET /v1/events\` is the log of what changed: \`user.linked\`, \`user.updated\` and \`user.removed\`, numbered without a gap. An event holds ids and no
personal data, so read the user when you handle it. Events are read, not sent: ask with \`after\` the last \`sequence\` that you handled, and keep that
number with your own copy. The \`reason\` of a removal says who removed the user; delete your copy for each of them. Events are kept
${KEEP_EVENTS_DAYS} days; after that the response is 410 \`events_expired\`: keep \`last_sequence\` of a request without
\`after\`, read all users, then go on after that number.`;

const retries = (): string => `## Retries

${retryTable()}

Linking the same buyer again returns 200 with the existing user, and removing a removed user returns 204 again. Wait for \`Retry-After\`
seconds. Do not automatically resend a code after a timeout: the first SMS may have been sent. Do not automatically repeat a link or a check
after \`verification_unavailable\`: each attempt can be another paid check, so ask the buyer to try again later.`;

const oneTimeCodes = (): string => `## One-time codes

A code has ${CODE_LIMITS.digits} digits, is valid for ${duration(CODE_LIMITS.lifetimeSeconds)} and for one use. A new code replaces the old one. A code belongs to the seller whose
key sent it. Wait ${RESEND_AFTER_SECONDS} seconds between two codes to a phone. A wrong, expired, used or never sent code gets the same response.

${codeLimitTable()}

Failed codes are counted until a code succeeds; a new code, a lock or time does not reset the count. During a lock, send and verify
return \`too_many_attempts\`.

${lockTable()}

Some deployments offer these two operations without a key.`;

/** The text of the first page of the documentation, a chapter after the other. Its numbers come from the constants of the service. */
export const description = (): string =>
  `${[
    'Link buyers to your seller account, and sign buyers in by phone.',
    requests(),
    errors(),
    rateLimits(),
    pages(),
    events(),
    retries(),
    oneTimeCodes(),
  ].join('\n\n')}\n`;
