import { InvalidArgumentError, Option } from 'commander';
import { redact } from '#shared/log.ts';
import {
  KEY_LIMIT_NAMES,
  type KeyLimitName,
  type LimitOverrides,
  PLAN_NAMES,
} from '#shared/rate-limits/plans.ts';
import { SCOPES, type Scope } from '#shared/scopes.ts';
import { parseDuration, parseMoment } from './times.ts';

const MAX_GRACE_SECONDS = 30 * 86_400;
const MAX_LIMIT = 1_000_000_000;

/** Returns a parser of a whole number from 1 to `max`. */
export const wholeNumberUpTo =
  (max: number) =>
  (text: string): number => {
    const number = Number(text);
    if (!Number.isInteger(number) || number < 1 || number > max) {
      throw new InvalidArgumentError(`It must be a whole number from 1 to ${max}.`);
    }
    return number;
  };

/** Parses comma-separated scopes. */
export const parseScopes = (text: string): Scope[] =>
  text.split(',').map((name) => {
    const scope = SCOPES.find((known) => known === name.trim());
    if (scope !== undefined) return scope;
    const known = `The scopes are ${SCOPES.join(', ')}.`;
    throw new InvalidArgumentError(`There is no scope ${redact(name.trim())}. ${known}`);
  });

/** Parses an expiry into epoch seconds. */
export const parseExpiry = (text: string): number => {
  const expiry = parseMoment(text, Date.now());
  if (expiry === undefined) {
    throw new InvalidArgumentError('It must be like 90d, 12h, 2027-01-31 or 2027-01-31T12:00Z (UTC).');
  }
  return expiry;
};

/** Parses an expiry or `never`. */
export const parseExpiryOrNever = (text: string): number | 'never' =>
  text === 'never' ? text : parseExpiry(text);

/** Parses a grace period into seconds. */
const parseGrace = (text: string): number => {
  const seconds = parseDuration(text);
  if (seconds === undefined || seconds > MAX_GRACE_SECONDS) {
    throw new InvalidArgumentError('It must be like 0, 30m, 24h or 7d, and at most 30d.');
  }
  return seconds;
};

/** Parses the name of an hourly or daily limit; adds it to those given before. */
export const collectLimitName = (text: string, before: readonly KeyLimitName[] = []): KeyLimitName[] => {
  const name = KEY_LIMIT_NAMES.find((known) => known === text);
  if (name === undefined) throw new InvalidArgumentError(`The limits are ${KEY_LIMIT_NAMES.join(', ')}.`);
  return [...before, name];
};

/** Parses `sms-per-hour=10000`; adds it to those given before. */
export const collectLimit = (text: string, before: LimitOverrides = {}): LimitOverrides => {
  const [name = '', number = ''] = text.split('=');
  const [limit] = collectLimitName(name);
  const value = Number(number);
  if (limit === undefined || !/^[0-9]+$/.test(number) || value > MAX_LIMIT) {
    throw new InvalidArgumentError(`It must be like sms-per-hour=10000, at most ${MAX_LIMIT}.`);
  }
  return { ...before, [limit]: value };
};

/** The option `--grace` in seconds; 24 hours by default. */
export const graceOption = (): Option =>
  new Option('--grace <time>', 'how long the old secret stays valid: 0, 30m, 24h, 7d')
    .argParser(parseGrace)
    .default(86_400, '24h');

/** The mandatory option `--plan`. */
export const planOption = (): Option =>
  new Option('--plan <plan>', 'the usage plan').choices([...PLAN_NAMES]).makeOptionMandatory();
