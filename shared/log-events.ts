/**
 * The registry of log events, each with the fields that it may carry. No field holds a header, a body, a phone, a national id, a code or a key.
 */

/** What a log event is: its level, its fields and its metrics. */
export interface EventKind {
  readonly level: 'INFO' | 'WARN' | 'ERROR';
  readonly fields: readonly string[];
  /** Metric name -> [unit, the field that holds its value, or 1 for a count]. */
  readonly metrics: Readonly<Record<string, readonly ['Count' | 'Milliseconds' | 'Percent', string | 1]>>;
  /** The sets of fields that become the metrics' dimensions. Each combination of values is billed as one metric. */
  readonly dimensions: readonly (readonly string[])[];
}

/** Every event of the log, by name. */
export const EVENTS = {
  /**
   * One line per request that reached a function. `code`: the problem code of an error. `calls`: each call to DynamoDB, KMS, Secrets
   * Manager and providers with its milliseconds. `cause…`: the cause of a 5xx.
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
      'cause',
      'cause_provider',
      'cause_operation',
      'cause_reason',
      'seller_id',
      'key_id',
      'plan',
      'outcome',
    ],
    metrics: { Requests: ['Count', 1], Duration: ['Milliseconds', 'duration_ms'] },
    dimensions: [['operation'], ['operation', 'outcome'], ['plan']],
  },
  /** An unexpected error: the caller got `internal`. By `version`, a gradual rollout finds the failures of the version being deployed. */
  request_failed: {
    level: 'ERROR',
    fields: [
      'request_id',
      'operation',
      'version',
      'error_name',
      'error_message',
      'error_stack',
      'error_cause',
    ],
    metrics: { UnexpectedErrors: ['Count', 1] },
    dimensions: [['operation'], ['operation', 'version']],
  },
  /** A limit's store could not be reached, so a request passed uncounted. */
  rate_limiter_unreachable: {
    level: 'WARN',
    fields: ['request_id', 'operation', 'key_id', 'error_name'],
    metrics: { RateLimiterUnreachable: ['Count', 1] },
    dimensions: [[]],
  },
  /** A key used up one of its hourly or daily limits, or its share of a ceiling: `limit` is then `paid-checks-per-day` or `sms-per-day`. */
  key_limit_used_up: {
    level: 'WARN',
    fields: ['request_id', 'operation', 'limit', 'key_id'],
    metrics: { KeyLimitsUsedUp: ['Count', 1] },
    dimensions: [[]],
  },
  /** A paid check or an SMS was counted against the stage's daily ceiling. `ceiling`: paid-checks-per-day, sms-per-day. */
  stage_ceiling_counted: {
    level: 'INFO',
    fields: ['ceiling', 'used_percent'],
    metrics: { StageCeilingUsedPercent: ['Percent', 'used_percent'] },
    dimensions: [['ceiling']],
  },
  /** One billed call to a provider. `outcome`: the verdict, or the reason why there is none. */
  provider_called: {
    level: 'INFO',
    fields: ['request_id', 'provider', 'provider_operation', 'outcome', 'duration_ms', 'attempt'],
    metrics: { ProviderCalls: ['Count', 1], ProviderDuration: ['Milliseconds', 'duration_ms'] },
    dimensions: [
      ['provider', 'provider_operation'],
      ['provider', 'provider_operation', 'outcome'],
    ],
  },
  /** A provider responded with JSON that is no documented result. Its circuit does not count it; the next provider is called. */
  provider_response_unreadable: {
    level: 'WARN',
    fields: ['request_id', 'provider', 'provider_operation'],
    metrics: { UnreadableResponses: ['Count', 1] },
    dimensions: [['provider']],
  },
  /** The circuit of a provider's operation changed to `open`, `half_open` or `closed`. */
  circuit_changed: {
    level: 'WARN',
    fields: ['request_id', 'provider', 'provider_operation', 'state'],
    metrics: { CircuitChanges: ['Count', 1] },
    dimensions: [['provider', 'state']],
  },
  /** A secret could not be read again, or is malformed now. The last good value stays in use. */
  secret_refresh_failed: {
    level: 'ERROR',
    fields: ['request_id', 'secret', 'error_name', 'error_message'],
    metrics: { SecretRefreshFailures: ['Count', 1] },
    dimensions: [[]],
  },
  /** No API key is stored for the canary, so it reads the public keys only. */
  canary_key_missing: {
    level: 'WARN',
    fields: [],
    metrics: { CanaryKeysMissing: ['Count', 1] },
    dimensions: [[]],
  },
  /** A provider could not be called: its section of the provider secret is missing, wrong or unreachable. */
  provider_misconfigured: {
    level: 'ERROR',
    fields: ['request_id', 'provider', 'error_name', 'error_message'],
    metrics: { ProviderMisconfigured: ['Count', 1] },
    dimensions: [['provider']],
  },
  /** An SMS provider accepted a code. */
  code_sent: {
    level: 'INFO',
    fields: ['request_id', 'provider', 'seller_id'],
    metrics: { CodesSent: ['Count', 1] },
    dimensions: [['provider']],
  },
  /** A code was verified. `provider`: the one that sent it. If there are far fewer of these than of code_sent, messages do not arrive. */
  code_redeemed: {
    level: 'INFO',
    fields: ['request_id', 'provider', 'seller_id'],
    metrics: { CodesRedeemed: ['Count', 1] },
    dimensions: [['provider']],
  },
  /** A failed verify of the buyer app's key above failed-verifies-per-hour. It was not refused. */
  failed_verifies_above_limit: {
    level: 'WARN',
    fields: ['request_id', 'operation', 'seller_id', 'key_id'],
    metrics: { FailedVerifiesAboveLimit: ['Count', 1] },
    dimensions: [[]],
  },
  /** The authorizer's decision on a key. `outcome`: allowed, malformed, unknown, unusable. By `version`, a rollout tells refusals from crashes. */
  key_checked: {
    level: 'INFO',
    fields: ['request_id', 'version', 'outcome', 'seller_id', 'key_id', 'plan'],
    metrics: { KeysChecked: ['Count', 1] },
    dimensions: [['outcome'], ['version']],
  },
} as const satisfies Record<string, EventKind>;

/** The name of an event. */
export type EventName = keyof typeof EVENTS;
