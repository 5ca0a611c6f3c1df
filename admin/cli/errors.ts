import { AdminError } from '#admin/admin-error.ts';
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

interface KnownError {
  readonly code: 'not_allowed' | 'not_reachable';
  /** The name, the code or the text of the error. */
  readonly known: RegExp;
  readonly sentence: string;
  readonly advice: string;
}

const KNOWN: readonly KnownError[] = [
  {
    code: 'not_allowed',
    known: /^(CredentialsProviderError|TokenProviderError)$/,
    sentence: 'No AWS credentials were found',
    advice: 'Sign in, or name a profile with --profile.',
  },
  {
    code: 'not_allowed',
    known: /^(ExpiredToken|ExpiredTokenException|RequestExpired)$/,
    sentence: 'The AWS session has expired',
    advice: 'Sign in again.',
  },
  {
    code: 'not_allowed',
    known:
      /^(InvalidClientTokenId|UnrecognizedClientException|InvalidSignatureException|SignatureDoesNotMatch)$/,
    sentence: 'AWS does not accept these credentials',
    advice: 'Sign in again, or name another profile with --profile.',
  },
  {
    code: 'not_allowed',
    known: /^(AccessDenied|AccessDeniedException|UnauthorizedException|UnauthorizedOperation)$/,
    sentence: 'These AWS credentials do not allow this command',
    advice: 'docs/operators/admin.md lists what it needs.',
  },
  {
    code: 'not_reachable',
    known:
      /^(TooManyRequestsException|ThrottlingException|ProvisionedThroughputExceededException|Throttling|UnprocessedKeysError)$/,
    sentence: 'AWS is throttling',
    advice: 'Try again in a moment.',
  },
  {
    code: 'not_reachable',
    known: /^Requested resource not found/,
    sentence: 'The table does not exist',
    advice: 'See docs/operators/operations.md, "The table was deleted".',
  },
  {
    code: 'not_reachable',
    known: /ENOTFOUND|EAI_AGAIN/,
    sentence: 'An address is unknown',
    advice: 'Check the Region, and the connection of this machine.',
  },
  {
    code: 'not_reachable',
    known: /^(TimeoutError|AbortError)$|ECONNREFUSED|ECONNRESET/,
    sentence: 'The deployment does not respond',
    advice: 'Try again. The local service runs while npm start does.',
  },
  {
    code: 'not_reachable',
    known: /Region is missing/,
    sentence: 'No AWS Region is set',
    advice: 'Name one: --region eu-central-1.',
  },
];

/** What the error says of itself, such as `ExpiredToken`, or `AccessDenied: dynamodb:Query`. */
const reasonOf = (error: Error): string => {
  const { hostname, code } = error as NodeJS.ErrnoException & { readonly hostname?: string };
  const name = error.name === 'Error' ? code : error.name;
  const [, action] = /\bperform: (\S+)/.exec(error.message) ?? [];
  return [name, hostname ?? action].filter((part) => part !== undefined).join(': ');
};

/** Describes an error for an admin: without a stack trace, and without anything that looks like a key or a phone. */
export const failureOf = (error: unknown): Failure => {
  if (error instanceof UsageError) return { code: 'usage', message: error.message };
  if (error instanceof AdminError) return { code: error.code, message: error.message };
  if (!(error instanceof Error)) return { code: 'unexpected', message: 'An unexpected error occurred.' };
  if (error instanceof Problem && error.code === 'service_unavailable') {
    return { code: 'not_reachable', message: 'The table is busy. Run the command again.' };
  }
  const { code: cause = '' } = error as NodeJS.ErrnoException;
  const texts = [error.name, cause, error.message];
  const found = KNOWN.find(({ known }) => texts.some((text) => known.test(text)));
  if (found === undefined) return { code: 'unexpected', message: redact(`${error.name}: ${error.message}`) };
  const { code, sentence, advice } = found;
  const reason = reasonOf(error);
  return { code, message: `${sentence}${reason === '' ? '' : ` (${reason})`}. ${advice}` };
};
