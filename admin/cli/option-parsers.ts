import { InvalidArgumentError } from 'commander';
import { DAY_SECONDS, HOUR_SECONDS, MINUTE_SECONDS, timeText } from '#shared/clock.ts';
import { KEY_LIMIT_NAMES, type LimitOverrides } from '#shared/rate-limits/key-limits.ts';
import { SCOPES, type Scope } from '#shared/scopes.ts';

const UNIT_SECONDS: Readonly<Record<string, number>> = {
  s: 1,
  m: MINUTE_SECONDS,
  h: HOUR_SECONDS,
  d: DAY_SECONDS,
};
const MAX_GRACE_SECONDS = 30 * DAY_SECONDS;
const MAX_LIMIT = 1_000_000_000;

/** NaN for a text of anything but digits. */
const wholeNumber = (text: string): number => (/^[0-9]+$/.test(text) ? Number(text) : Number.NaN);

/** Returns a parser of a whole number from 1 to `max`. */
export const wholeNumberUpTo =
  (max: number) =>
  (text: string): number => {
    const number = wholeNumber(text);
    if (number >= 1 && number <= max) return number;
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${max}.`);
  };

/** Parses comma-separated scopes. */
export const parseScopes = (text: string): Scope[] =>
  text.split(',').map((name) => {
    const scope = SCOPES.find((known) => known === name.trim());
    if (scope !== undefined) return scope;
    const known = `The scopes are ${SCOPES.join(', ')}.`;
    const fault = name.trim() === '' ? 'A scope is empty.' : `There is no scope ${name.trim()}.`;
    throw new InvalidArgumentError(`${fault} ${known}`);
  });

/** Parses `90d`, `24h`, `30m`, `10s` or `0` into seconds; undefined for other texts. */
const durationOf = (text: string): number | undefined => {
  const [, count, unit = ''] = /^([0-9]{1,6})([smhd])$/.exec(text === '0' ? '0s' : text) ?? [];
  return count === undefined ? undefined : Number(count) * Number(UNIT_SECONDS[unit]);
};

/** Formats epoch seconds as `2027-01-31T00:00:00Z`; null for undefined, which means never. */
export const isoOf = (epochSeconds: number | undefined): string | null =>
  epochSeconds === undefined ? null : timeText(epochSeconds);

/** Parses a time into epoch seconds: a duration (`90d`) from now, the start of a day (`2027-01-31`, UTC), `2027-01-31T12:00Z`, or as the audit shows it. */
const parseTime = (typed: string, direction: 1 | -1): number => {
  const duration = durationOf(typed);
  if (duration !== undefined) return Math.floor(Date.now() / 1000) + direction * duration;
  const text = typed.replace(/\.000Z$/, 'Z');
  const seconds = Date.parse(text) / 1000;
  const isTime = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d)?Z)?$/.test(text) && !Number.isNaN(seconds);
  // Date.parse takes February 31 for March 3.
  if (isTime && isoOf(seconds)?.startsWith(text.replace('Z', ''))) return seconds;
  throw new InvalidArgumentError(
    'It must be like 90d, 12h (a number of up to 6 digits), 2027-01-31 or 2027-01-31T12:00Z (UTC).',
  );
};

/** Parses a time to come into epoch seconds: `90d` is in 90 days. */
export const parseExpiry = (typed: string): number => parseTime(typed, 1);

/** Parses a past time into epoch seconds: `1d` is a day ago. */
export const parseSince = (typed: string): number => parseTime(typed, -1);

/** Parses a grace period into seconds. */
export const parseGrace = (text: string): number => {
  const seconds = durationOf(text);
  if (seconds !== undefined && seconds <= MAX_GRACE_SECONDS) return seconds;
  throw new InvalidArgumentError('It must be like 0, 30m, 24h or 7d, and at most 30d.');
};

/** Parses `sms-per-hour=10000`; adds it to those given before. */
export const collectLimit = (text: string, before: LimitOverrides = {}): LimitOverrides => {
  const [name, ...rest] = text.split('=');
  const limit = KEY_LIMIT_NAMES.find((known) => known === name);
  if (limit === undefined) throw new InvalidArgumentError(`The limits are ${KEY_LIMIT_NAMES.join(', ')}.`);
  const number = wholeNumber(rest.join('='));
  if (number <= MAX_LIMIT) return { ...before, [limit]: number };
  throw new InvalidArgumentError(`It must be like sms-per-hour=10000, at most ${MAX_LIMIT}.`);
};
