/** The events with which a deploy calls new versions, and what their responses must be. */
import type { AuthorizerContext } from '#shared/api-keys/caller.ts';
import { newApiKey } from '#shared/api-keys/secret.ts';
import type { KeyPrefix, OtpAccess } from '#shared/env.ts';
import { DEPLOY_CHECK } from '#shared/log.ts';
import { PROBLEMS } from '#shared/problems.ts';
import { type KeyCheck, type Route, requiresKey } from '#shared/route.ts';
import { allFunctions } from '#shared/routes.ts';

/** A seller and a key that cannot exist, since ids have 22 random characters. What they count expires as the counts of every key do. */
const CALLER: AuthorizerContext = {
  sellerId: 'sel_deploy_check',
  keyId: 'key_deploy_check',
  plan: 'professional',
  scopes: '',
};

/** A function that throws has the error as its payload. */
interface Payload {
  readonly errorType?: string;
  readonly errorMessage?: string;
  readonly statusCode?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly usageIdentifierKey?: string;
  readonly policyDocument?: {
    readonly Statement: readonly { readonly Effect: string; readonly Resource: readonly string[] }[];
  };
}

/** The response of a version, and the end of its log. */
export interface Answer {
  readonly payload: Payload;
  readonly log: string;
}

/** The event for a version, and what is wrong with its response: undefined if nothing is. */
interface VersionCheck {
  readonly event: object;
  readonly faultOf: (answer: Answer) => string | undefined;
}

const codeIn = (body = ''): string => /"code": ?"(\w+)"/.exec(body)?.[1] ?? '';

const textOf = ({ errorType = 'error', errorMessage, statusCode, body }: Payload): string =>
  statusCode === undefined ? `${errorType}: ${errorMessage}` : `status ${statusCode} ${codeIn(body)}`.trim();

const eventOf = ({ method, path, check: { pathParameters = {}, body } }: Route) => {
  const sentPath = path.replace(/\{(\w+)\+?\}/g, (_, name) => pathParameters[name] ?? '');
  return {
    httpMethod: method,
    path: sentPath,
    headers: body === undefined ? {} : { 'Content-Type': 'application/json' },
    multiValueQueryStringParameters: null,
    pathParameters,
    body: body === undefined ? null : JSON.stringify(body),
    isBase64Encoded: false,
    requestContext: { requestId: DEPLOY_CHECK, path: sentPath, authorizer: CALLER },
  };
};

/** The version must respond with a status, or with the code of a problem. A limiter that cannot count lets a request pass, without its header. */
const requestCheck = (route: Route, otpAccess: OtpAccess): VersionCheck => {
  const { expects } = route.check;
  const [status, code] = typeof expects === 'number' ? [expects] : [PROBLEMS[expects].status, expects];
  return {
    event: eventOf(route),
    faultOf: ({ payload }) => {
      const isExpected =
        payload.statusCode === status && (code === undefined || codeIn(payload.body) === code);
      if (!isExpected) return `${textOf(payload)} in place of ${expects}`;
      const isCounted = payload.headers?.RateLimit !== undefined;
      return requiresKey(route, otpAccess) && !isCounted ? 'no header RateLimit: not counted' : undefined;
    },
  };
};

const keyEvent = (key: string) => ({
  type: 'REQUEST',
  methodArn: 'arn:aws:execute-api:region:account:api/stage/GET/v1/users',
  headers: { 'X-Api-Key': key },
  requestContext: { requestId: DEPLOY_CHECK },
});

interface LogLine {
  readonly event?: string;
  readonly outcome?: string;
}

/** The first line of the end of a log can be cut. */
const parsedLine = (line: string): LogLine => {
  try {
    return JSON.parse(line) ?? {};
  } catch {
    return {};
  }
};

/** Returns the outcome that the authorizer logged, or undefined. */
const outcomeIn = (log: string): string | undefined =>
  log
    .split('\n')
    .map(parsedLine)
    .findLast(({ event }) => event === 'key_checked')?.outcome;

/** The error alone would say nothing: a version that refuses every key throws it too. */
const unknownKeyCheck = ({ unknownKey }: KeyCheck, keyPrefix: KeyPrefix): VersionCheck => ({
  event: keyEvent(newApiKey(keyPrefix)),
  faultOf: ({ payload, log }) => {
    if (payload.errorMessage !== unknownKey.throws)
      return `${textOf(payload)} in place of ${unknownKey.throws}`;
    const outcome = outcomeIn(log);
    return outcome === unknownKey.outcome
      ? undefined
      : `${unknownKey.throws} with the outcome ${outcome} in place of ${unknownKey.outcome}`;
  },
});

/** The version must allow a stored key at least one method, and name the usage plan key, without which API Gateway refuses the request. */
export const storedKeyCheck = (key: string): VersionCheck => ({
  event: keyEvent(key),
  faultOf: ({ payload }) => {
    if (payload.policyDocument === undefined) return textOf(payload);
    const allowing = payload.policyDocument.Statement.filter(({ Effect }) => Effect === 'Allow');
    if (!allowing.some(({ Resource }) => Resource.length > 0)) return 'allows no method';
    return payload.usageIdentifierKey ? undefined : 'names no usage plan key';
  },
});

/** Returns the check of a function by the name of its row. */
export const checkOf = (
  name: string,
  { keyPrefix, otpAccess }: { readonly keyPrefix: KeyPrefix; readonly otpAccess: OtpAccess },
): VersionCheck => {
  const row = allFunctions.find((each) => each.name === name);
  if (row === undefined) throw new Error(`no row has the name ${name}`);
  return 'path' in row ? requestCheck(row, otpAccess) : unknownKeyCheck(row.check, keyPrefix);
};
