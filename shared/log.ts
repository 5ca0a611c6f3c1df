/** The log: JSON objects, with a CloudWatch embedded-metric document if the event has metrics. Nothing else writes to it. */

import { readEnv } from './env.ts';
import { currentRequest } from './request-context.ts';

// The registry: no field holds a header, a body, a phone, a national id, a code or a key.

interface EventKind {
  readonly level: 'INFO' | 'WARN' | 'ERROR';
  readonly fields: readonly string[];
  readonly metrics: Readonly<Record<string, LoggedMetric>>;
}

interface LoggedMetric {
  readonly unit: 'Count' | 'Milliseconds' | 'Percent';
  /** The field that holds the value; a count is 1 for each event. */
  readonly value?: string;
  /** The sets of fields that become dimensions. Each combination of values is billed as one metric, so a set is here only if something reads it. */
  readonly dimensions: readonly (readonly string[])[];
}

const countBy = (...dimensions: readonly (readonly string[])[]) => ({ unit: 'Count', dimensions }) as const;

export const EVENTS = {
  /**
   * `calls`: each call to DynamoDB, KMS, Secrets Manager and providers with its milliseconds. `cause_kind`, `cause…`: of a 5xx response, what it
   * comes from (http/server-errors.ts) and the error.
   */
  request_completed: {
    level: 'INFO',
    fields: [
      'request_id',
      'operation',
      'status',
      'code',
      'duration_ms',
      'calls',
      'cause_kind',
      'cause',
      'cause_provider',
      'cause_operation',
      'cause_reason',
      'seller_id',
      'key_id',
      'plan',
      'outcome',
    ],
    metrics: {
      Requests: countBy(['plan']),
      /** Its samples count the responses of an operation by their code. */
      Duration: { unit: 'Milliseconds', value: 'duration_ms', dimensions: [['operation', 'outcome']] },
      ServerErrors: countBy(['cause_kind']),
    },
  },
  /** The caller got `internal`, or the authorizer failed. */
  request_failed: {
    level: 'ERROR',
    fields: ['request_id', 'operation', 'error_name', 'error_message', 'error_stack', 'error_cause'],
    metrics: {},
  },
  /** A limit's store could not be reached, so a request passed uncounted. */
  rate_limiter_unreachable: {
    level: 'WARN',
    fields: ['request_id', 'operation', 'key_id', 'error_name'],
    metrics: { RateLimiterUnreachable: countBy([]) },
  },
  /** A key used up one of its hourly or daily limits, or its share of a ceiling: `limit` is then `share-of-paid-checks-per-day` or `share-of-sms-per-day`. */
  key_limit_used_up: {
    level: 'WARN',
    fields: ['request_id', 'operation', 'limit', 'key_id'],
    metrics: {},
  },
  /** A paid check or an SMS. `ceiling`: paid-checks-per-day, sms-per-day. */
  stage_ceiling_counted: {
    level: 'INFO',
    fields: ['ceiling', 'used_percent'],
    metrics: {
      StageCeilingUsedPercent: { unit: 'Percent', value: 'used_percent', dimensions: [['ceiling']] },
    },
  },
  /** One call to a provider, which may bill it. `outcome`: the verdict, or the reason why there is none. */
  provider_called: {
    level: 'INFO',
    fields: ['request_id', 'provider', 'provider_operation', 'outcome', 'duration_ms', 'attempt'],
    metrics: {
      ProviderCalls: countBy(['provider', 'provider_operation', 'outcome']),
      ProviderDuration: {
        unit: 'Milliseconds',
        value: 'duration_ms',
        dimensions: [['provider', 'provider_operation']],
      },
    },
  },
  /**
   * A call of a port: of the registries or of the SMS providers. `unavailable`: 1 if none of them gave a result, but not because one rejected the number. `taken_over`: 1 if not the first
   * one gave it. The average of either metric is a share of the calls, the sum a number of calls.
   */
  port_called: {
    level: 'INFO',
    fields: ['request_id', 'port', 'provider_operation', 'unavailable', 'taken_over'],
    metrics: {
      ProvidersUnavailable: { unit: 'Count', value: 'unavailable', dimensions: [['port']] },
      ProviderTakeovers: { unit: 'Count', value: 'taken_over', dimensions: [['port']] },
    },
  },
  /** A secret could not be read again, or is malformed now. The last good value stays in use. */
  secret_refresh_failed: {
    level: 'ERROR',
    fields: ['request_id', 'secret', 'error_name', 'error_message'],
    metrics: { SecretRefreshFailures: countBy([]) },
  },
  /**
   * A provider gave no result, also if another one took over. `reason`: misconfigured (`error_message` names the field), unreadable,
   * credentials, blocked, quota, balance, upstream (the provider's own error code), or circuit_open: its circuit has opened.
   */
  provider_failed: {
    level: 'WARN',
    fields: ['request_id', 'provider', 'provider_operation', 'reason', 'error_name', 'error_message'],
    metrics: {},
  },
  code_sent: {
    level: 'INFO',
    fields: ['request_id', 'provider', 'seller_id'],
    metrics: { CodesSent: countBy(['provider']) },
  },
  /** `provider`: the one that sent the code. If there are far fewer of these than of code_sent, messages do not arrive. */
  code_redeemed: {
    level: 'INFO',
    fields: ['request_id', 'provider', 'seller_id'],
    metrics: { CodesRedeemed: countBy(['provider']) },
  },
  /** A failed verify of the buyer app's key, of an outstanding code, above failed-verifies-per-hour. It was not refused. */
  failed_verifies_above_limit: {
    level: 'WARN',
    fields: ['request_id', 'operation', 'seller_id', 'key_id'],
    metrics: { FailedVerifiesAboveLimit: countBy([]) },
  },
  /** A key has scopes or a plan of a later version. It is served without these scopes, and with the smallest plan. */
  key_values_unknown: {
    level: 'WARN',
    fields: ['request_id', 'operation', 'key_id', 'unknown_scopes', 'unknown_plan'],
    metrics: {},
  },
  /** The authorizer's decision on a key. `outcome`: allowed, malformed, unknown, unusable; unavailable if the table gave no answer. */
  key_checked: {
    level: 'INFO',
    fields: ['request_id', 'outcome', 'seller_id', 'key_id', 'plan'],
    metrics: { KeysChecked: countBy(['outcome']) },
  },
  /** `step`: what failed although the outcome of the request stays the same, as the undo of a send. */
  best_effort_failed: {
    level: 'ERROR',
    fields: ['request_id', 'operation', 'step', 'error_name', 'error_message', 'error_stack', 'error_cause'],
    metrics: {},
  },
} as const satisfies Record<string, EventKind>;

export type EventName = keyof typeof EVENTS;

type Fields<Name extends EventName> = {
  readonly [Field in (typeof EVENTS)[Name]['fields'][number]]?: string | number | undefined;
};

let writeLine = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

/** Returns a function that restores the former target. */
export const redirectLog = (write: (line: string) => void): (() => void) => {
  const before = writeLine;
  writeLine = write;
  return () => {
    writeLine = before;
  };
};

/** The request id of the check before traffic. A version that fails it has no callers, so that its lines raise no alarm. */
export const DEPLOY_CHECK = 'deploy-check';

type Values = Readonly<Record<string, string | number | undefined>>;

/** CloudWatch rejects a document that names an absent field, so metrics and dimension sets with one are left out. */
const embeddedMetrics = ({ metrics }: EventKind, values: Values, now: number) => {
  const has = (field: string) => values[field] !== undefined;
  const written = Object.entries(metrics).flatMap(([name, { unit, value, dimensions }]) => {
    const Dimensions = dimensions.filter((set) => set.every(has));
    if (Dimensions.length === 0 || (value !== undefined && !has(value))) return [];
    return [{ name, value: value === undefined ? 1 : values[value], unit, Dimensions }];
  });
  if (written.length === 0) return {};
  const Namespace = readEnv(['METRIC_NAMESPACE']).METRIC_NAMESPACE;
  return {
    ...Object.fromEntries(written.map(({ name, value }) => [name, value])),
    _aws: {
      Timestamp: now,
      CloudWatchMetrics: written.map(({ name, unit, Dimensions }) => ({
        Namespace,
        Dimensions,
        Metrics: [{ Name: name, Unit: unit }],
      })),
    },
  };
};

/** Drops a field that the event's kind does not list. Within a request, `request_id` and `operation` need not be given. */
export const logEvent = <Name extends EventName>(name: Name, fields: Fields<Name>): void => {
  const kind: EventKind = EVENTS[name];
  const now = Date.now();
  const { requestId, operation } = currentRequest() ?? {};
  const values: Values = { request_id: requestId, operation, ...fields };
  const allowed = Object.fromEntries(kind.fields.map((field) => [field, values[field]]));
  writeLine(
    JSON.stringify({
      timestamp: new Date(now).toISOString(),
      level: kind.level,
      event: name,
      ...allowed,
      ...(requestId === DEPLOY_CHECK ? {} : embeddedMetrics(kind, values, now)),
    }),
  );
};

/**
 * API keys, JWTs, and at least six decimal digits of any script. Between two of them are up to five characters that are no letters, or any
 * number of spaces and hyphens: a phone and a code are accepted with them.
 */
const PERSONAL =
  /blk_(?:live|test)_[0-9A-Za-z]+|eyJ[\w-]+(?:\.[\w-]*){0,2}|\p{Nd}(?:(?:[\s\p{Pd}\u2212]*|[^\p{L}\p{Nd}]{0,5})\p{Nd}){5,}/u;

/**
 * Digits that are not personal: in an id of this service, of a time of day in the form of ISO 8601, of a count of seven digits, or of a
 * position in code. A code has six digits, and a national id eight to ten: 123,456 and 12:34:56 can be a code.
 */
const IMPERSONAL =
  /\b(?:sel|key|usr|byr)_[0-9A-Za-z]{22}\b|(?:(?<=T)[0-2]\d(?::[0-5]\d){2}(?:\.\d{1,6})?(?![:.]?\p{Nd})|[0-2]\d(?::[0-5]\d){2}(?:\.\d{1,6})?(?=Z))|\d(?:,\d{3}){2}(?!,?\p{Nd})|(?<=\.[cm]?[jt]s:)\d{1,6}:\d{1,6}(?!:?\p{Nd})/u;

const EITHER = new RegExp(`(${IMPERSONAL.source})|${PERSONAL.source}`, 'gu');

/** Returns the parts of a text that look like a secret, a phone, a national id or a code. */
export const personalIn = (text: string): string[] =>
  [...text.matchAll(EITHER)].flatMap(([found, impersonal]) => (impersonal === undefined ? [found] : []));

/** Hides what `personalIn` finds. */
export const redact = (text: string): string =>
  text.replace(EITHER, (_found, impersonal?: string) => impersonal ?? '[redacted]');

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

export const causeFields = (cause: unknown) => {
  if (!(cause instanceof Error)) return {};
  const { name, provider, operation, reason } = cause as Error & Readonly<Record<string, string | undefined>>;
  return { cause: name, cause_provider: provider, cause_operation: operation, cause_reason: reason };
};

/** Awaits work after whose failure the outcome of the request stays the same, so that its error hides no other one: it is logged. */
export const bestEffort = async (step: string, work: Promise<unknown>): Promise<void> => {
  await work.catch((error: unknown) => logEvent('best_effort_failed', { step, ...errorFields(error) }));
};
