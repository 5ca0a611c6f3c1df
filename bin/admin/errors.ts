import { Refusal } from '#admin/operations/refusal.ts';
import { redact } from '#shared/log.ts';

/** What went wrong, as `--json` and people are told it. */
export interface Failure {
  readonly code: string;
  readonly message: string;
}

/** Errors of the AWS SDK by name, in words that say what to do. */
const KNOWN: readonly (readonly [RegExp, string, string])[] = [
  [
    /^(CredentialsProviderError|TokenProviderError)$/,
    'not_allowed',
    'No AWS credentials were found. Sign in, or name a profile: --profile.',
  ],
  [
    /^(ExpiredToken|ExpiredTokenException|RequestExpired)$/,
    'not_allowed',
    'The AWS session has expired. Sign in again.',
  ],
  [
    /^(InvalidClientTokenId|UnrecognizedClientException|InvalidSignatureException|SignatureDoesNotMatch)$/,
    'not_allowed',
    'AWS does not accept these credentials.',
  ],
  [
    /^(AccessDenied|AccessDeniedException|UnauthorizedException|UnauthorizedOperation)$/,
    'not_allowed',
    'These AWS credentials may not do that.',
  ],
  [
    /^(TooManyRequestsException|ThrottlingException|ProvisionedThroughputExceededException|Throttling)$/,
    'not_reachable',
    'AWS is throttling; try again in a moment.',
  ],
  [
    /^(TimeoutError|AbortError|ECONNREFUSED|ECONNRESET|ENOTFOUND|EAI_AGAIN)$/,
    'not_reachable',
    'The deployment does not answer.',
  ],
];

const isConnectionError = (error: Error): boolean =>
  /ECONNREFUSED|ECONNRESET|ENOTFOUND|EAI_AGAIN/.test(
    `${(error as NodeJS.ErrnoException).code} ${error.message}`,
  );

/** An error in words for an admin: never a stack trace, and nothing that looks like a key or a phone. */
export const failureOf = (error: unknown): Failure => {
  if (error instanceof Refusal) return { code: error.code, message: error.message };
  if (!(error instanceof Error)) return { code: 'unexpected', message: 'Something unexpected went wrong.' };
  if (error.message === 'Region is missing') {
    return { code: 'not_reachable', message: 'No AWS Region is set. Name one: --region eu-central-1.' };
  }
  const name = isConnectionError(error) ? 'ECONNREFUSED' : error.name;
  const known = KNOWN.find(([pattern]) => pattern.test(name));
  if (known !== undefined) return { code: known[1], message: known[2] };
  return { code: 'unexpected', message: redact(`${error.name}: ${error.message}`) };
};
