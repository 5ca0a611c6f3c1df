import { Refusal } from '#admin/operations/refusal.ts';
import { redact } from '#shared/log.ts';
import { Problem } from '#shared/problems.ts';

/** The command line is wrong: exit code 2. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UsageError';
  }
}

/** A failed command, as `--json` shows it. */
export interface Failure {
  readonly code: string;
  readonly message: string;
}

/** Errors of the AWS SDK by name, with a code and a message that says what to do. */
const KNOWN: readonly (readonly [RegExp, string, string])[] = [
  [
    /^(CredentialsProviderError|TokenProviderError)$/,
    'not_allowed',
    'No AWS credentials were found. Sign in, or name a profile with --profile.',
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
    'These AWS credentials do not allow this command.',
  ],
  [
    /^(TooManyRequestsException|ThrottlingException|ProvisionedThroughputExceededException|Throttling|UnprocessedKeysError)$/,
    'not_reachable',
    'AWS is throttling. Try again in a moment.',
  ],
  [
    /^(TimeoutError|AbortError|ECONNREFUSED|ECONNRESET|ENOTFOUND|EAI_AGAIN)$/,
    'not_reachable',
    'The deployment does not respond.',
  ],
];

const isConnectionError = (error: Error): boolean =>
  /ECONNREFUSED|ECONNRESET|ENOTFOUND|EAI_AGAIN/.test(
    `${(error as NodeJS.ErrnoException).code} ${error.message}`,
  );

/** Describes an error for an admin: without a stack trace, and without anything that looks like a key or a phone. */
export const failureOf = (error: unknown): Failure => {
  if (error instanceof Refusal) return { code: error.code, message: error.message };
  if (!(error instanceof Error)) return { code: 'unexpected', message: 'An unexpected error occurred.' };
  if (error.message === 'Region is missing') {
    return { code: 'not_reachable', message: 'No AWS Region is set. Name one: --region eu-central-1.' };
  }
  if (error instanceof Problem && error.code === 'service_unavailable') {
    return { code: 'not_reachable', message: 'The table is busy. Run the command again.' };
  }
  const name = isConnectionError(error) ? 'ECONNREFUSED' : error.name;
  const known = KNOWN.find(([pattern]) => pattern.test(name));
  if (known !== undefined) return { code: known[1], message: known[2] };
  return { code: 'unexpected', message: redact(`${error.name}: ${error.message}`) };
};
