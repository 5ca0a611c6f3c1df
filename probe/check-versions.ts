/** The function that a deploy runs before traffic: invokes each new version and fails unless all respond as they must. */
import { setTimeout as pause } from 'node:timers/promises';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { monotonicClock } from '#shared/clock.ts';
import type { KeyPrefix, OtpAccess } from '#shared/env.ts';
import { secretsManagerSecret } from '#shared/secrets/secret-source.ts';
import { storedKey } from './canary-key.ts';
import { type Answer, checkOf, storedKeyCheck } from './version-checks.ts';

/**
 * An invocation that fails is repeated: Lambda may refuse it for want of concurrency (429) or while it connects the version to its network,
 * and a grant that the same deploy gave takes seconds to arrive everywhere in IAM. A version that is broken fails each time.
 */
export const ATTEMPTS = 6;
export const PAUSE_MS = 10_000;

/** No attempt begins later. The function has five minutes, and the longest time limit of a version is 28 seconds. */
export const TIME_MS = 240_000;

/** How many versions are invoked at a time, since the requests of callers need the concurrency of the account too. */
const AT_ONCE = 4;

/** CloudFormation accepts 4 kB of a custom resource, in which CDK also puts the stack trace. */
const MAX_FAULTS = 5;
const MAX_TEXT_LENGTH = 250;

interface CheckedVersions {
  /** By the name of the function: `<function name>:<version>`. */
  readonly versions: Readonly<Record<string, string>>;
  readonly keyPrefix: KeyPrefix;
  readonly otpAccess: OtpAccess;
  /** The authorizer that API Gateway invokes: `<function name>:<alias>`. */
  readonly authorizerInService: string;
}

interface Parts {
  readonly lambda: Pick<LambdaClient, 'send'>;
  /** Returns the API key of the canary; undefined if none is stored. Not given in a stage without a canary. */
  readonly readKey?: (() => Promise<string | undefined>) | undefined;
  readonly nowMs?: () => number;
  readonly sleep?: (ms: number) => Promise<unknown>;
}

/** What an attempt shows: the version responds as it must, it does not, or nothing. */
interface Finding {
  readonly is: 'good' | 'faulty' | 'unchecked';
  readonly text: string;
  /** Another attempt would show the same. */
  readonly isFinal?: boolean;
}

const GOOD: Finding = { is: 'good', text: '', isFinal: true };

const findingOf = (fault: string | undefined): Finding =>
  fault === undefined ? GOOD : { is: 'faulty', text: fault };

/** A version that got no concurrency may be right: during a flood the deploy that ends it must pass. */
const findingOfError = ({ name, message }: Error): Finding => ({
  is: name === 'TooManyRequestsException' ? 'unchecked' : 'faulty',
  text: `${name}: ${message}`,
});

/** Returns a function that runs at most so many at a time, in the order in which they come. */
const atMost = (limit: number) => {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async <Result>(run: () => Promise<Result>): Promise<Result> => {
    if (running === limit) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await run();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
};

const invoke = async (lambda: Parts['lambda'], version: string, event: object): Promise<Answer> => {
  const { Payload, LogResult = '' } = await lambda.send(
    new InvokeCommand({ FunctionName: version, Payload: JSON.stringify(event), LogType: 'Tail' }),
  );
  return {
    payload: JSON.parse(Buffer.from(Payload ?? []).toString() || 'null') ?? {},
    log: Buffer.from(LogResult, 'base64').toString(),
  };
};

/**
 * Asks the new authorizer about the key of the canary. A key that has ended, or that the version in service refuses for another reason, says
 * nothing about the new one.
 */
const checkStoredKey = async (
  { versions: { authorizer: version = '' }, authorizerInService }: CheckedVersions,
  { lambda, readKey }: Parts,
): Promise<Finding> => {
  const key = await readKey?.().catch((error: Error) => error);
  if (key instanceof Error) return { is: 'unchecked', text: `the key of the canary: ${key.name}` };
  if (key === undefined) return { is: 'unchecked', text: 'no key of the canary is stored', isFinal: true };
  const { event, faultOf } = storedKeyCheck(key);
  const answer = await invoke(lambda, version, event);
  const fault = faultOf(answer);
  if (fault === undefined) return GOOD;
  const inService = await invoke(lambda, authorizerInService, event).then(faultOf, (error: Error) => {
    if (error.name === 'ResourceNotFoundException') return 'there is none';
    throw error;
  });
  if (inService === undefined)
    return { is: 'faulty', text: `${fault}, and the version in service allows the key of the canary` };
  const text = `${fault} for the key of the canary, as the version in service: ${inService}`;
  return { is: 'unchecked', text, isFinal: answer.payload.errorMessage === 'Unauthorized' };
};

/** Checks all versions. Returns what could not be checked, in a sentence each. Throws one error that names each version that fails. */
export const checkVersions = async (options: CheckedVersions, parts: Parts): Promise<readonly string[]> => {
  const { lambda, readKey, nowMs = monotonicClock, sleep = pause } = parts;
  const endMs = nowMs() + TIME_MS;
  const withSlot = atMost(AT_ONCE);
  const check = async (name: string, attempt: () => Promise<Finding>) => {
    let finding: Finding = { is: 'faulty', text: `not invoked within ${TIME_MS / 60_000} minutes` };
    for (let made = 0; made < ATTEMPTS && nowMs() < endMs; made += 1) {
      if (made > 0) await sleep(PAUSE_MS);
      const before = finding;
      finding = await withSlot(async () => (nowMs() < endMs ? attempt().catch(findingOfError) : before));
      if (finding.isFinal) break;
    }
    return { name, ...finding };
  };
  const checks = Object.entries(options.versions).map(([name, version]) => {
    const { event, faultOf } = checkOf(name, options);
    return check(name, async () => findingOf(faultOf(await invoke(lambda, version, event))));
  });
  if (readKey) checks.push(check('authorizer', () => checkStoredKey(options, parts)));
  const findings = await Promise.all(checks);
  const textsOf = (is: Finding['is']): readonly string[] =>
    findings.flatMap((each) =>
      each.is === is ? [`${each.name}: ${each.text}`.slice(0, MAX_TEXT_LENGTH)] : [],
    );
  const faults = textsOf('faulty');
  if (faults.length === 0) return textsOf('unchecked');
  const more = faults.length > MAX_FAULTS ? [`and ${faults.length - MAX_FAULTS} more`] : [];
  throw new Error(`No alias was moved: ${[...faults.slice(0, MAX_FAULTS), ...more].join('; ')}`);
};

// shared/env.ts covers the functions of the service only.
const { VERSIONS = '{}', KEY_PREFIX, OTP_ACCESS, AUTHORIZER_IN_SERVICE = '', CANARY_KEY } = process.env;

/** Runs once in a deploy, by CloudFormation. */
export const handler = async (): Promise<void> => {
  const secret = CANARY_KEY === undefined ? undefined : secretsManagerSecret(CANARY_KEY);
  const unchecked = await checkVersions(
    {
      versions: JSON.parse(VERSIONS),
      keyPrefix: KEY_PREFIX as KeyPrefix,
      otpAccess: OTP_ACCESS as OtpAccess,
      authorizerInService: AUTHORIZER_IN_SERVICE,
    },
    { lambda: new LambdaClient(), readKey: secret && (() => storedKey(secret)) },
  );
  // The trigger of CDK shows no result of a check that passes.
  for (const text of unchecked)
    process.stdout.write(`${JSON.stringify({ level: 'WARN', event: 'version_not_checked', text })}\n`);
};
