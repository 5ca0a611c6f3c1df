import * as v from 'valibot';
import { integer, queryInteger, shown, time } from '#shared/fields.ts';
import { KEPT_DAYS } from '#shared/rate-limits/key-limits.ts';

const DEFAULT_DAYS = 7;

/** The bounds of the grace period of a rotation, in hours. The least is longer than the authorizer's cache. */
export const GRACE_HOURS = { minimum: 1, maximum: 720, default: 24 } as const;

const BAD_GRACE = `Must be an integer from ${GRACE_HOURS.minimum} to ${GRACE_HOURS.maximum}.`;

const lastFour = shown('The last four characters of the secret.', 'Kd3I');

const END = '2026-11-22T08:30:00Z';

const secretSchema = v.object({
  last_four: lastFour,
  expires_at: v.nullable(time('When the secret ends.', END)),
});

const limitSchema = v.object({
  name: shown("The name of the plan for its limit per minute, or the name of the key's limit.", 'free'),
  maximum: integer(0, 'How much the limit allows in its window.', 100),
  remaining: integer(0, 'How much is left of it, this request counted.', 57),
  resets_in: integer(1, 'Seconds until the next window begins.', 23),
});

export const keySchema = v.pipe(
  v.object({
    id: shown('The id of the key, for support.', 'key_4tLw9eQx2mVb7nRk5sYp1Z'),
    name: shown('The name that the key was issued with.', 'shop server'),
    seller: v.object({
      id: shown('The id of your account: the audience of access tokens.', 'sel_8sKd2mVx7qLw4nRt6yBp3A'),
      name: shown('The name of your account.', 'Kaveh Books'),
    }),
    plan: shown('The plan of the key.', 'free'),
    scopes: v.pipe(
      v.array(v.string()),
      v.description('What the key may do.'),
      v.examples([['users:read', 'users:write']]),
    ),
    expires_at: v.pipe(
      v.nullable(time('When the key expires.', END)),
      v.description('When the key expires; null: never.'),
    ),
    last_four: lastFour,
    secrets: v.pipe(
      v.array(secretSchema),
      v.description(
        'The secrets that are valid now, newest first. `expires_at` is null while a secret has no end.',
      ),
    ),
    limits: v.pipe(
      v.array(limitSchema),
      v.description(
        "The plan's limit per minute, then every hourly and daily limit of the key, as they are now.",
      ),
    ),
  }),
  v.title('Key'),
);

export const keyUsageQuerySchema = v.strictObject({
  days: v.optional(
    queryInteger(
      `How many times 24 hours to return, 1 to ${KEPT_DAYS}. The last hour is the current one.`,
      1,
      KEPT_DAYS,
    ),
    String(DEFAULT_DAYS),
  ),
});

export const keyUsageSchema = v.pipe(
  v.object({
    data: v.pipe(
      v.array(
        v.object({
          hour: time('The beginning of the hour.', '2026-11-21T08:00:00Z'),
          requests: integer(0, "Requests that the plan's limit allowed.", 412),
          refused_links: integer(0, 'Refused links, as refused-links-per-hour counts them.', 2),
          failed_checks: integer(0, 'Failed identity checks, as failed-checks-per-hour counts them.', 1),
          sms: integer(0, 'Sends of a code, as sms-per-hour counts them.', 30),
          failed_verifies: integer(
            0,
            'Rejected codes that were compared with an outstanding one, as failed-verifies-per-hour counts them.',
            4,
          ),
        }),
      ),
      v.description('The hours (UTC) in which anything was counted, oldest first.'),
    ),
    paid_checks: v.pipe(
      v.array(
        v.object({
          day: v.pipe(v.string(), v.isoDate(), v.description('The day.'), v.examples(['2026-11-21'])),
          count: integer(1, 'Paid identity checks, as paid-checks-per-day counts them.', 3),
        }),
      ),
      v.description('The days (UTC) of these hours on which a paid check was made, oldest first.'),
    ),
  }),
  v.title('KeyUsage'),
);

export const rotationSchema = v.strictObject({
  grace_hours: v.optional(
    v.pipe(
      v.number(BAD_GRACE),
      v.integer(BAD_GRACE),
      v.minValue(GRACE_HOURS.minimum, BAD_GRACE),
      v.maxValue(GRACE_HOURS.maximum, BAD_GRACE),
      v.description('How many hours the old secret stays valid.'),
      v.examples([GRACE_HOURS.default]),
    ),
    GRACE_HOURS.default,
  ),
});

export const newSecretSchema = v.pipe(
  v.object({
    secret: shown('The new secret: the value of X-Api-Key. It is shown only here.', 'blk_live_…'),
    last_four: lastFour,
    old_secret_expires_at: time('When the old secret ends.', END),
  }),
  v.title('NewSecret'),
);
