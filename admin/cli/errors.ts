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

/** The names of the AWS SDK's errors by code, and by the message that says what to do. */
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
    'The deployment does not respond.': /^(TimeoutError|AbortError)$/,
  },
};

const isConnectionError = (error: Error): boolean =>
  /ECONNREFUSED|ECONNRESET|ENOTFOUND|EAI_AGAIN/.test(
    `${(error as NodeJS.ErrnoException).code} ${error.message}`,
  );

/** Describes an error for an admin: without a stack trace, and without anything that looks like a key or a phone. */
export const failureOf = (error: unknown): Failure => {
  if (error instanceof UsageError) return { code: 'usage', message: error.message };
  if (error instanceof Refusal) return { code: error.code, message: error.message };
  if (!(error instanceof Error)) return { code: 'unexpected', message: 'An unexpected error occurred.' };
  if (error.message === 'Region is missing') {
    return { code: 'not_reachable', message: 'No AWS Region is set. Name one: --region eu-central-1.' };
  }
  if (error instanceof Problem && error.code === 'service_unavailable') {
    return { code: 'not_reachable', message: 'The table is busy. Run the command again.' };
  }
  const name = isConnectionError(error) ? 'TimeoutError' : error.name;
  for (const [code, messages] of Object.entries(KNOWN)) {
    const [message] = Object.entries(messages).find(([, names]) => names.test(name)) ?? [];
    if (message !== undefined) return { code, message };
  }
  return { code: 'unexpected', message: redact(`${error.name}: ${error.message}`) };
};
