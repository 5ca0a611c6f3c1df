/**
 * The log: events of one registry, each with the only fields it may carry. A line is one JSON object and, where the event has
 * metrics, a CloudWatch embedded-metric document at the same time. Nothing else writes to the log, and no field of the registry
 * can hold a header, a body, a phone, a national id, a code or a key.
 */

import { readEnv } from './env.ts';

interface EventKind {
  readonly level: 'INFO' | 'WARN' | 'ERROR';
  readonly fields: readonly string[];
  /** Metric name -> [unit, the field that holds its value, or 1 for a count]. */
  readonly metrics?: Readonly<Record<string, readonly ['Count' | 'Milliseconds', string | 1]>>;
  /** The sets of fields that the metrics are kept by. Each set costs one metric a value. */
  readonly dimensions?: readonly (readonly string[])[];
}

export const EVENTS = {
  /** Exactly one a request that reached a function. `code` is the problem code of a refusal. */
  request_completed: {
    level: 'INFO',
    fields: [
      'request_id',
      'operation',
      'status',
      'code',
      'duration_ms',
      'seller_id',
      'key_id',
      'plan',
      'outcome',
    ],
    metrics: { Requests: ['Count', 1], Duration: ['Milliseconds', 'duration_ms'] },
    dimensions: [['operation'], ['operation', 'outcome'], ['plan']],
  },
  /** An error nobody expected: the caller saw `internal`. */
  request_failed: {
    level: 'ERROR',
    fields: ['request_id', 'operation', 'error_name', 'error_message', 'error_stack', 'error_cause'],
    metrics: { UnexpectedErrors: ['Count', 1] },
    dimensions: [['operation']],
  },
  /** A request passed uncounted. */
  rate_limiter_unreachable: {
    level: 'WARN',
    fields: ['request_id', 'operation', 'key_id', 'error_name'],
    metrics: { RateLimiterUnreachable: ['Count', 1] },
    dimensions: [[]],
  },
  /** One billed call to a provider. `outcome` is the verdict, or the reason why there is none. */
  provider_called: {
    level: 'INFO',
    fields: ['provider', 'provider_operation', 'outcome', 'duration_ms', 'attempt'],
    metrics: { ProviderCalls: ['Count', 1], ProviderDuration: ['Milliseconds', 'duration_ms'] },
    dimensions: [
      ['provider', 'provider_operation'],
      ['provider', 'provider_operation', 'outcome'],
    ],
  },
  /** A provider's circuit opened, is being probed, or closed. */
  circuit_changed: {
    level: 'WARN',
    fields: ['provider', 'provider_operation', 'state'],
    metrics: { CircuitChanges: ['Count', 1] },
    dimensions: [['provider', 'state']],
  },
  /** A provider could not be asked, since its section of the provider secret is missing, wrong or out of reach. */
  provider_misconfigured: {
    level: 'ERROR',
    fields: ['provider', 'error_name', 'error_message'],
    metrics: { ProviderMisconfigured: ['Count', 1] },
    dimensions: [['provider']],
  },
  /** A key was let in or turned away. `outcome`: allowed, malformed, unknown, unusable. */
  key_checked: {
    level: 'INFO',
    fields: ['request_id', 'outcome', 'seller_id', 'key_id', 'plan'],
    metrics: { KeysChecked: ['Count', 1] },
    dimensions: [['outcome']],
  },
} as const satisfies Record<string, EventKind>;

export type EventName = keyof typeof EVENTS;

type Fields<Name extends EventName> = {
  readonly [Field in (typeof EVENTS)[Name]['fields'][number]]?: string | number | undefined;
};

let writeLine = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

/** Sends the log's lines elsewhere: `npm start` keeps them in a file, tests read them. Returns the way back. */
export const redirectLog = (write: (line: string) => void): (() => void) => {
  const before = writeLine;
  writeLine = write;
  return () => {
    writeLine = before;
  };
};

type Values = Readonly<Record<string, string | number | undefined>>;

/** The metrics of a line: a field that this line does not have has no metric either. */
const metricsOf = (kind: EventKind, values: Values) =>
  Object.entries(kind.metrics ?? {}).flatMap(([Name, [Unit, field]]) => {
    const value = field === 1 ? 1 : values[field];
    return value === undefined ? [] : [{ Name, Unit, value }];
  });

/** A metric or a set of dimensions that names a field which this line does not have would void the whole document, so it is left out. */
const embeddedMetrics = (kind: EventKind, values: Values, now: number) => {
  const metrics = metricsOf(kind, values);
  const isWhole = (set: readonly string[]) => set.every((field) => values[field] !== undefined);
  const Dimensions = (kind.dimensions ?? [[]]).filter(isWhole);
  if (metrics.length === 0 || Dimensions.length === 0) return {};
  const Metrics = metrics.map(({ Name, Unit }) => ({ Name, Unit }));
  return {
    ...Object.fromEntries(metrics.map(({ Name, value }) => [Name, value])),
    _aws: {
      Timestamp: now,
      CloudWatchMetrics: [{ Namespace: readEnv(['METRIC_NAMESPACE']).METRIC_NAMESPACE, Dimensions, Metrics }],
    },
  };
};

/** Writes one event. Fields that its kind does not list are a type error, and are dropped if they come all the same. */
export const logEvent = <Name extends EventName>(name: Name, fields: Fields<Name>): void => {
  const kind: EventKind = EVENTS[name];
  const now = Date.now();
  const values: Values = fields;
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

/** Runs of six digits and more (in any of the three scripts), and API keys: what an unexpected error's text might have caught. */
const PERSONAL = /blk_(?:live|test)_[0-9A-Za-z]+|(?:[0-9\u06f0-\u06f9\u0660-\u0669][ -]*){6,}/g;

/** An error's own text with whatever looks like a phone, a national id, a code or a key blotted out. */
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
