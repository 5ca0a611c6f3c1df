import {
  CODE_LIFETIME_SECONDS,
  LOCK_SECONDS,
  MAX_CONSECUTIVE_FAILURES,
  MAX_TRIES_PER_CODE,
  RESEND_AFTER_SECONDS,
} from '#shared/one-time-codes/rules.ts';
import { PROBLEMS, type ProblemCode } from '#shared/problems.ts';
import { planItem, rateLimitHeaders } from '#shared/rate-limits/headers.ts';
import { KEY_LIMITS, PLAN_NAMES, PLANS } from '#shared/rate-limits/plans.ts';

const limitRows = (): string =>
  Object.entries(KEY_LIMITS)
    .map(([name, { counts, windowSeconds, byPlan }]) => {
      const numbers = PLAN_NAMES.map((plan) => byPlan[plan]).join(' | ');
      return `| \`${name}\` | ${counts} | ${windowSeconds} | ${numbers} |`;
    })
    .join('\n');

const example = rateLimitHeaders([planItem('free', 57, 23)]);

const problemRows = (): string =>
  (Object.keys(PROBLEMS) as ProblemCode[])
    .map((code) => `| ${PROBLEMS[code].status} | \`${code}\` | ${PROBLEMS[code].detail} |`)
    .join('\n');

/** What a seller reads before the operations. Its numbers come from where the service takes them. */
export const guide = (): string => `Link buyers to your seller account, and sign buyers in by phone.

## Calling

Send JSON, and your key in \`X-Api-Key\`. Fields and query parameters that are not in this document are refused, so a typo is never
silently ignored. Answers may gain fields within v1: ignore those you do not know. Persian and Arabic-Indic digits count as
digits.

Every answer carries \`X-Request-Id\`.

## Errors

Every refusal is \`application/problem+json\` (RFC 9457). Decide by \`code\`; \`title\` and \`detail\` are for people.
\`validation_failed\` names everything that is wrong at once, in \`errors\`.

| Status | \`code\` | Meaning |
|---|---|---|
${problemRows()}

## Limits

| Limit | Counts | Window (s) | ${PLAN_NAMES.join(' | ')} |
|---|---|---|${PLAN_NAMES.map(() => '---|').join('')}
| plan | Requests | 60 | ${PLAN_NAMES.map((plan) => PLANS[plan].requestsPerMinute).join(' | ')} |
${limitRows()}

Windows are clock minutes, hours and days (UTC). A key's old and new secret share them during rotation. Every counted response
carries \`RateLimit-Policy: ${example['RateLimit-Policy']}\` and \`RateLimit: ${example.RateLimit}\`. A request rejected with 401
or 403 is not counted. Over a limit the response is 429 with \`Retry-After\` in seconds.

## Paging

\`page\` counts from 1; the \`Link\` header names the first, prev, next and last pages (RFC 8288). Oldest link first: a full page keeps its
users for ever, so pages do not shift while you read. A page past the end is empty.

## Retrying

Linking the same buyer again answers 200 with the existing user, so that request may be repeated after a time-out or a 5xx. Wait as long
as \`Retry-After\` says. Do not repeat the sending of a code by yourself after a time-out: the SMS may have gone out.

## One-time codes

Six digits, valid ${CODE_LIFETIME_SECONDS} seconds, single use; a new code replaces the old. ${RESEND_AFTER_SECONDS} seconds between sends. ${MAX_TRIES_PER_CODE} tries a code; after
${MAX_CONSECUTIVE_FAILURES} consecutive failures the phone is locked for ${LOCK_SECONDS / 60} minutes. A wrong, expired, used or never sent code gets one and the same
answer. Some deployments serve these two operations without a key.
`;
