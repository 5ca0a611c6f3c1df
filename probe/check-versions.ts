/** The function that a deploy runs before traffic: invokes each new version once and fails unless all respond as they must. */
import { setTimeout as pause } from 'node:timers/promises';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import type { AuthorizerContext } from '#shared/api-keys/caller.ts';
import { newApiKey } from '#shared/api-keys/secret.ts';
import type { KeyPrefix } from '#shared/env.ts';
import { PROBLEMS } from '#shared/problems.ts';
import type { Route } from '#shared/route.ts';
import { allFunctions } from '#shared/routes.ts';

/**
 * An invocation that fails is repeated: Lambda may refuse it for want of concurrency (429) or while it connects the version to its network,
 * and a grant that the same deploy gave takes seconds to arrive everywhere in IAM. A version that is broken fails each time.
 */
export const ATTEMPTS = 6;
export const PAUSE_MS = 10_000;

/** CloudFormation accepts 4 kB of a custom resource, in which CDK also puts the stack trace. */
const MAX_FAULTS = 5;
const MAX_FAULT_LENGTH = 250;

const REQUEST_ID = 'deploy-check';

/** A seller and a key that cannot exist, since ids have 22 random characters. What they count expires as the counts of every key do. */
const CALLER: AuthorizerContext = {
  sellerId: 'sel_deploy_check',
  keyId: 'key_deploy_check',
  plan: 'professional',
  scopes: '',
};

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
    requestContext: { requestId: REQUEST_ID, path: sentPath, authorizer: CALLER },
  };
};

/** A function that throws has the error as its payload. */
interface Payload {
  readonly errorType?: string;
  readonly errorMessage?: string;
  readonly statusCode?: number;
  readonly body?: string;
}

/** The event for a version, and what is wrong with its response: undefined if nothing is. */
interface Check {
  readonly event: object;
  readonly faultOf: (payload: Payload) => string | undefined;
}

const textOf = ({ errorType = 'error', errorMessage, statusCode, body }: Payload): string =>
  statusCode === undefined ? `${errorType}: ${errorMessage}` : `status ${statusCode} ${codeIn(body)}`;

const codeIn = (body = ''): string => /"code": ?"(\w+)"/.exec(body)?.[1] ?? '';

/** The version must respond with a status, or with the code of a problem. */
const requestCheck = (route: Route): Check => {
  const { expects } = route.check;
  const [status, code] = typeof expects === 'number' ? [expects] : [PROBLEMS[expects].status, expects];
  return {
    event: eventOf(route),
    faultOf: (payload) => {
      const isExpected =
        payload.statusCode === status && (code === undefined || codeIn(payload.body) === code);
      return isExpected ? undefined : `${textOf(payload).trim()} in place of ${expects}`;
    },
  };
};

const keyCheck = (throws: string, keyPrefix: KeyPrefix): Check => ({
  event: {
    type: 'REQUEST',
    methodArn: 'arn:aws:execute-api:region:account:api/stage/GET/v1/users',
    headers: { 'X-Api-Key': newApiKey(keyPrefix) },
    requestContext: { requestId: REQUEST_ID },
  },
  faultOf: (payload) =>
    payload.errorMessage === throws ? undefined : `${textOf(payload)} in place of ${throws}`,
});

const checkOf = (name: string, keyPrefix: KeyPrefix): Check => {
  const row = allFunctions.find((each) => each.name === name);
  if (row === undefined) throw new Error(`no row has the name ${name}`);
  return 'path' in row ? requestCheck(row) : keyCheck(row.check.unknownKey.throws, keyPrefix);
};

const invokeVersion = async (lambda: LambdaClient, version: string, event: object): Promise<Payload> => {
  const { Payload: payload } = await lambda.send(
    new InvokeCommand({ FunctionName: version, Payload: JSON.stringify(event) }),
  );
  return JSON.parse(Buffer.from(payload ?? []).toString() || 'null') ?? {};
};

interface CheckedVersions {
  /** By the name of the function: `<function name>:<version>`. */
  readonly versions: Readonly<Record<string, string>>;
  readonly keyPrefix: KeyPrefix;
}

/** Checks all versions side by side. Throws one error that names each that fails. */
export const checkVersions = async (
  { versions, keyPrefix }: CheckedVersions,
  lambda: LambdaClient,
  pauseMs = PAUSE_MS,
): Promise<void> => {
  const checkVersion = async ([name, version]: [string, string]): Promise<string | undefined> => {
    const { event, faultOf: faultIn } = checkOf(name, keyPrefix);
    let fault: string | undefined;
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      if (attempt > 1) await pause(pauseMs);
      fault = await invokeVersion(lambda, version, event).then(faultIn, (error: Error) => textOfError(error));
      if (fault === undefined) return undefined;
    }
    return `${name}: ${fault}`.slice(0, MAX_FAULT_LENGTH);
  };
  const faults = (await Promise.all(Object.entries(versions).map(checkVersion))).filter(
    (fault) => fault !== undefined,
  );
  if (faults.length === 0) return;
  const more = faults.length > MAX_FAULTS ? [`and ${faults.length - MAX_FAULTS} more`] : [];
  throw new Error(`No alias was moved: ${[...faults.slice(0, MAX_FAULTS), ...more].join('; ')}`);
};

const textOfError = ({ name, message }: Error): string => `${name}: ${message}`;

// shared/env.ts covers the functions of the service only.
const { VERSIONS = '{}', KEY_PREFIX } = process.env;

/** Runs once in a deploy, by CloudFormation. */
export const handler = (): Promise<void> =>
  checkVersions({ versions: JSON.parse(VERSIONS), keyPrefix: KEY_PREFIX as KeyPrefix }, new LambdaClient());
