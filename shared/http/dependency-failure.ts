import { isNativeError } from 'node:util/types';

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

/** Names and codes of a call that got no response. */
const NO_RESPONSE =
  /^(?:TimeoutError|AbortError|ECONNREFUSED|ECONNRESET|ECONNABORTED|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN)$/;

/** The fields of an AWS SDK error that show whether the service or the caller is at fault. */
interface SdkError {
  readonly code?: unknown;
  readonly $fault?: unknown;
  readonly $metadata?: { readonly httpStatusCode?: number };
  readonly CancellationReasons?: readonly { readonly Code?: string }[];
}

/** Returns whether the database, the key service or the secret store could not be reached, failed or throttled. */
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
