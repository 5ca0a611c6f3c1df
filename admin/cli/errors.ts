import { Refusal } from '#admin/refusal.ts';
import { redact } from '#shared/log.ts';
import { Problem } from '#shared/problems.ts';

/** The command line is wrong: exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** A failed command, as `--json` shows it. */
export interface Failure {
  readonly code: string;
  readonly message: string;
}

/** Names and texts of errors of the AWS SDK by code, and by the message that says what to do. */
const KNOWN: Readonly<Record<string, Readonly<Record<string, RegExp>>>> = {
  not_allowed: {
    'No AWS credentials were found. Sign in, or name a profile with --profile.':
      /^(CredentialsProviderError|TokenProviderError)$/,
    'The AWS session has expired. Sign in again.': /^(ExpiredToken|ExpiredTokenException|RequestExpired)$/,
    'AWS does not accept these credentials.':
      /^(InvalidClientTokenId|UnrecognizedClientException|InvalidSignatureException|SignatureDoesNotMatch)$/,
    'These AWS credentials do not allow this command.':
      /^(AccessDenied|AccessDeniedException|UnauthorizedException|UnauthorizedOperation)$/,
  },
  not_reachable: {
    'AWS is throttling. Try again in a moment.':
      /^(TooManyRequestsException|ThrottlingException|ProvisionedThroughputExceededException|Throttling|UnprocessedKeysError)$/,
    'The table does not exist: docs/operations.md, "The table was deleted".': /^Requested resource not found/,
    'The deployment does not respond.':
      /^(TimeoutError|AbortError)$|ECONNREFUSED|ECONNRESET|ENOTFOUND|EAI_AGAIN/,
    'No AWS Region is set. Name one: --region eu-central-1.': /Region is missing/,
  },
};

/** Describes an error for an admin: without a stack trace, and without anything that looks like a key or a phone. */
export const failureOf = (error: unknown): Failure => {
  if (error instanceof UsageError) return { code: 'usage', message: error.message };
  if (error instanceof Refusal) return { code: error.code, message: error.message };
  if (!(error instanceof Error)) return { code: 'unexpected', message: 'An unexpected error occurred.' };
  if (error instanceof Problem && error.code === 'service_unavailable') {
    return { code: 'not_reachable', message: 'The table is busy. Run the command again.' };
  }
  const { code: cause = '' } = error as NodeJS.ErrnoException;
  for (const [code, messages] of Object.entries(KNOWN)) {
    const isKnown = (known: RegExp) => [error.name, cause, error.message].some((text) => known.test(text));
    const [message] = Object.entries(messages).find(([, known]) => isKnown(known)) ?? [];
    if (message !== undefined) return { code, message };
  }
  return { code: 'unexpected', message: redact(`${error.name}: ${error.message}`) };
};
