/** The limits, the reasons of problems and the repeatable requests as Markdown tables, for the OpenAPI document and the docs. */
import { HOUR_SECONDS, MINUTE_SECONDS } from '#shared/clock.ts';
import { CODE_LIMITS, type SendLimit } from '#shared/one-time-codes/rules.ts';
import { REASONS } from '#shared/problems.ts';
import { KEY_LIMIT_NAMES, KEY_LIMITS } from '#shared/rate-limits/key-limits.ts';
import { PERSON_LIMITS, PHONE_LIMITS } from '#shared/rate-limits/person-limits.ts';
import { PLAN_NAMES, PLANS } from '#shared/rate-limits/plans.ts';
import { allRoutes } from '#shared/routes.ts';
import { markdown } from './markdown.ts';

const number = (value: number): string => value.toLocaleString('en-US');

const UNITS = { hour: HOUR_SECONDS, minute: MINUTE_SECONDS, second: 1 };

/** `3600` -> `1 hour`, `900` -> `15 minutes`: in the largest unit that divides it. */
export const duration = (seconds: number): string => {
  const [unit, size] = Object.entries(UNITS).find(([, size]) => seconds % size === 0) ?? ['second', 1];
  return (seconds / size).toLocaleString('en-US', { style: 'unit', unit, unitDisplay: 'long' });
};

const row = (...cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

/** Returns a Markdown table. */
export const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [row(...head), `|${'---|'.repeat(head.length)}`, ...rows.map((cells) => row(...cells))].join('\n');

/** Returns the table of the requests per minute of each plan. */
export const planLimitTable = (): string =>
  table(
    ['Plan', 'Requests per key and clock minute (UTC)'],
    PLAN_NAMES.map((name) => [name, number(PLANS[name].requestsPerMinute)]),
  );

/** Returns the table of the hourly and daily limits of a key. */
export const keyLimitTable = (): string =>
  table(
    // One column for both plans, so that the table fits on a phone.
    ['Limit of a key', 'Counts', 'Clock window (UTC)', 'Limit'],
    KEY_LIMIT_NAMES.map((name) => {
      const { counts, windowSeconds, byPlan } = KEY_LIMITS[name];
      return [
        `\`${name}\``,
        markdown(counts),
        duration(windowSeconds),
        PLAN_NAMES.map((plan) => `${number(byPlan[plan])} ${plan}`).join(', '),
      ];
    }),
  );

/** Returns the table of what each `reason` means. Words of a code with the same meaning share a row. */
export const reasonTable = (): string =>
  table(
    ['`code`', '`reason`', 'Meaning'],
    Object.entries(REASONS).flatMap(([code, meanings]) => {
      const words = Map.groupBy(Object.entries<string>(meanings), ([, meaning]) => meaning);
      return [...words].map(([meaning, entries]) => [
        `\`${code}\``,
        entries.map(([word]) => `\`${word}\``).join(', '),
        meaning,
      ]);
    }),
  );

const sendsWithin = ({ maximum, windowSeconds, thenEverySeconds }: SendLimit): string =>
  `${maximum} in ${duration(windowSeconds)}${thenEverySeconds === undefined ? '' : `, then one ${duration(thenEverySeconds)} after the last`}`;

const SENDS = [
  ['per seller', CODE_LIMITS.sendLimits],
  ['buyer app', CODE_LIMITS.sendLimitsOfBuyerApp],
] as const;

/** Returns the table of the send limits of one-time codes. */
export const codeLimitTable = (): string =>
  table(
    ['Limit of a phone', 'Value', 'Over the limit'],
    [
      ...SENDS.map(([who, limits]) => [
        `Codes sent, ${who}`,
        limits.map(sendsWithin).join('; '),
        '`resend_too_soon`',
      ]),
      [
        'Codes sent, all sellers together but the buyer app',
        `${PHONE_LIMITS.sms.maximum} in a day (UTC)`,
        '`resend_too_soon`',
      ],
      ['Tries of one code', String(CODE_LIMITS.triesPerCode), '`too_many_attempts`'],
      [
        'Searches for links that match nobody, buyer app',
        `${PHONE_LIMITS.searches.maximum} in a day (UTC)`,
        '`too_many_attempts`',
      ],
    ],
  );

const PERSON_ROWS = [
  ['Checks that begin', PERSON_LIMITS['begun-checks']],
  ['Checks that fail: `identity_mismatch`, `phone_not_owned`', PERSON_LIMITS['failed-checks']],
] as const;

/** Returns the table of the limits on the checks of a person. */
export const personLimitTable = (): string =>
  table(
    ['Limit of a person, per seller', 'Clock window (UTC)', 'Limit'],
    PERSON_ROWS.map(([title, { windowSeconds, maximum }]) => [
      title,
      duration(windowSeconds),
      String(maximum),
    ]),
  );

/** Returns the table of the locks after failed codes. */
export const lockTable = (): string =>
  table(
    ['Consecutive failed codes, per phone and seller', 'Lock'],
    CODE_LIMITS.locks.map(({ failures, lockSeconds }) => [
      String(failures),
      Number.isFinite(lockSeconds)
        ? duration(lockSeconds)
        : 'until an operator of the service unlocks the phone',
    ]),
  );

/** Returns the table of the requests that are safe to repeat, for the OpenAPI document and docs/sellers/errors.md. */
export const retryTable = (): string => {
  const notRepeatable = allRoutes.filter(({ repeatable }) => !repeatable);
  return table(
    ['Request', 'Safe to repeat'],
    [
      [
        notRepeatable.map(({ method, path }) => `\`${method} ${path}\``).join(', '),
        'after `rate_limit_exceeded` only: after any other failure the first request may have had its effect',
      ],
      ['every other request', 'always: a repetition leads to the same result'],
    ],
  );
};
