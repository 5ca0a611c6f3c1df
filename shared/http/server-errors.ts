/** What 5xx responses come from. The authorizer uses it too, so it imports no schema and no client. */
import { isNativeError } from 'node:util/types';
import type { Problem } from '#shared/problems.ts';

/**
 * What a 5xx response comes from: `provider`, no registry or SMS provider gave a result; `limit`, a used-up share or ceiling; `conflict`, other
 * changes of the same seller; `dependency`, the table, KMS or Secrets Manager; `defect`, anything else. An alarm counts each by itself.
 */
export const CAUSE_KINDS = ['provider', 'limit', 'conflict', 'dependency', 'defect'] as const;

type CauseKind = (typeof CAUSE_KINDS)[number];

/** Returns what the problem of a 5xx response comes from. By the name of its cause: an import of the class would load the provider's code. */
export const causeKindOf = ({ code, cause }: Pick<Problem, 'code' | 'cause'>): CauseKind => {
  if (code === 'internal') return 'defect';
  const name = isNativeError(cause) ? cause.name : undefined;
  if (name === 'ProviderUnavailable') return 'provider';
  if (name === 'WriteConflict') return 'conflict';
  return code === 'service_unavailable' ? 'dependency' : 'limit';
};

/** Names of throttling errors of DynamoDB, KMS and Secrets Manager. After any of these the same request may be sent again. */
const THROTTLING: readonly string[] = [
  'LimitExceededException',
  'ProvisionedThroughputExceeded',
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'ThrottlingError',
  'ThrottlingException',
  'TransactionConflict',
  'TransactionConflictException',
  'TransactionInProgressException',
  // Thrown by table/reads.ts. By name: an import of the class would put the DynamoDB client into the bundle of every function.
  'UnprocessedKeysError',
];

const NO_RESPONSE =
  /^(?:TimeoutError|AbortError|ECONNREFUSED|ECONNRESET|ECONNABORTED|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN)$/;

interface SdkError {
  readonly code?: unknown;
  readonly $fault?: unknown;
  readonly $metadata?: { readonly httpStatusCode?: number };
  readonly CancellationReasons?: readonly { readonly Code?: string }[];
}

/** Whether an error says that a service of AWS gave no answer or throttled, and nothing about the request. */
export const isDependencyFailure = (error: unknown): boolean => {
  if (!isNativeError(error)) return false;
  const { code, $fault, $metadata, CancellationReasons } = error as SdkError;
  return (
    NO_RESPONSE.test(error.name) ||
    (typeof code === 'string' && NO_RESPONSE.test(code)) ||
    THROTTLING.includes(error.name) ||
    $fault === 'server' ||
    ($metadata?.httpStatusCode ?? 0) >= 500 ||
    (CancellationReasons ?? []).some(({ Code }) => THROTTLING.includes(Code ?? ''))
  );
};
