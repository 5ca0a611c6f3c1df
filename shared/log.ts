/**
 * The log. A line is a JSON object with the fields of its event in log-events.ts and, if the event has metrics, also a CloudWatch
 * embedded-metric document. Nothing else writes to the log.
 */

import { functionVersion, readEnv } from './env.ts';
import { EVENTS, type EventKind, type EventName } from './log-events.ts';
import { currentRequest } from './request-context.ts';

type Fields<Name extends EventName> = {
  readonly [Field in (typeof EVENTS)[Name]['fields'][number]]?: string | number | undefined;
};

let writeLine = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

/** Redirects the log's lines: `npm start` writes them to a file, tests read them. Returns a function that restores the former target. */
export const redirectLog = (write: (line: string) => void): (() => void) => {
  const before = writeLine;
  writeLine = write;
  return () => {
    writeLine = before;
  };
};

type Values = Readonly<Record<string, string | number | undefined>>;

/**
 * The embedded-metric document of a line. CloudWatch rejects a document that names an absent field, so metrics and dimension sets with
 * one are left out.
 */
const embeddedMetrics = ({ metrics, dimensions }: EventKind, values: Values, now: number) => {
  const has = (field: string | 1) => field === 1 || values[field] !== undefined;
  const known = Object.entries(metrics).filter(([, [, field]]) => has(field));
  const Dimensions = dimensions.filter((set) => set.every(has));
  if (known.length === 0 || Dimensions.length === 0) return {};
  const Metrics = known.map(([Name, [Unit]]) => ({ Name, Unit }));
  const Namespace = readEnv(['METRIC_NAMESPACE']).METRIC_NAMESPACE;
  return {
    ...Object.fromEntries(known.map(([Name, [, field]]) => [Name, field === 1 ? 1 : values[field]])),
    _aws: { Timestamp: now, CloudWatchMetrics: [{ Namespace, Dimensions, Metrics }] },
  };
};

/**
 * Writes one event. A field that its kind does not list is a type error, and is dropped at run time. Within a request, `request_id`
 * and `operation` need not be given.
 */
export const logEvent = <Name extends EventName>(name: Name, fields: Fields<Name>): void => {
  const kind: EventKind = EVENTS[name];
  const now = Date.now();
  const { requestId, operation } = currentRequest() ?? {};
  const values: Values = { version: functionVersion(), request_id: requestId, operation, ...fields };
  const allowed = Object.fromEntries(kind.fields.map((field) => [field, values[field]]));
  writeLine(
    JSON.stringify({
      timestamp: new Date(now).toISOString(),
      level: kind.level,
      event: name,
      ...allowed,
      ...embeddedMetrics(kind, values, now),
    }),
  );
};

/** API keys, JWTs, and runs of at least six digits in any script (full-width ones too), with separators between them. */
const PERSONAL =
  /blk_(?:live|test)_[0-9A-Za-z]+|eyJ[\w-]+\.[\w-]+\.[\w-]*|(?:[0-9\u06f0-\u06f9\u0660-\u0669\uff10-\uff19][ ._/-]*){6,}/g;

/** Replaces text that looks like a phone, a national id, a code or a key in an error's text. */
export const redact = (text: string): string => text.replace(PERSONAL, '[redacted]');

/** The fields of an error for `request_failed`. */
export const errorFields = (error: unknown) => {
  if (!(error instanceof Error)) return { error_name: typeof error };
  const { cause } = error;
  return {
    error_name: error.name,
    error_message: redact(error.message),
    error_stack: redact(error.stack ?? ''),
    ...(cause instanceof Error ? { error_cause: redact(`${cause.name}: ${cause.message}`) } : {}),
  };
};

/** The cause of a 5xx: the error's name and, for a `ProviderUnavailable`, which provider failed at what and why. */
export const causeFields = (cause: unknown) => {
  if (!(cause instanceof Error)) return {};
  const { name, provider, operation, reason } = cause as Error & Readonly<Record<string, string | undefined>>;
  return { cause: name, cause_provider: provider, cause_operation: operation, cause_reason: reason };
};
