/** The numbers of calls that nothing else needs to know, each with the sentence of the docs that promises it. */
import { readFileSync } from 'node:fs';
import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { identityRegistryFrom } from '#shared/identity-registry/configured.ts';
import { randomPauseMs } from '#shared/providers/call.ts';
import { runInRequest } from '#shared/request-context.ts';
import { TIMEOUTS } from '#shared/secrets/secret-source.ts';
import { smsSenderFrom } from '#shared/sms/configured.ts';
import { openTable } from '#shared/table/client.ts';
import { endless, requestUntil } from '#test/fakes/request.ts';
import { fixedSecret } from '#test/fakes/secret.ts';
import { messageTo } from '#test/fakes/sms.ts';
import { neverAborted } from '#test/shared/providers/failure.ts';
import { quietLog } from '#test/shared/providers/quiet-log.ts';

quietLog();

/** Collects the times of the signals that an attempt asks for. */
const timesOf = async (
  call: (timeoutSignal: (ms: number) => AbortSignal) => Promise<unknown>,
): Promise<readonly number[]> => {
  const times: number[] = [];
  await call((ms) => {
    times.push(ms);
    return neverAborted();
  });
  return times;
};

const NO_CREDENTIALS = fixedSecret('{}');

const registryTimes = () =>
  timesOf((timeoutSignal) =>
    identityRegistryFrom(['sandbox'], NO_CREDENTIALS, { timeoutSignal }).checkPhoneOwnership(
      '9990000010',
      '+989990000001',
      neverAborted(),
    ),
  );

const smsTimes = () =>
  timesOf((timeoutSignal) =>
    smsSenderFrom(['sandbox'], NO_CREDENTIALS, { timeoutSignal }).sendCode(
      messageTo('+989990000001', '123456'),
      neverAborted(),
    ),
  );

/** The shortest and the longest pause before an inquiry is repeated. */
const retryPauses = async () => {
  const { random } = Math;
  try {
    return [0, 1].map((value) => {
      Math.random = () => value;
      return randomPauseMs();
    });
  } finally {
    Math.random = random;
  }
};

/** The timeouts of the client on AWS: the handler of the SDK has them in a property that it does not publish. */
const tableTimeouts = async () => {
  const { client } = openTable('test');
  const { connectionTimeout, requestTimeout } = await Reflect.get(
    client.config.requestHandler,
    'configProvider',
  );
  return [connectionTimeout, requestTimeout, await client.config.maxAttempts()];
};

/** The time of a call within a request whose deadline is later. */
const callTimes = async () => {
  const { timeout } = AbortSignal;
  const times: number[] = [];
  AbortSignal.timeout = (ms) => {
    times.push(ms);
    return timeout.call(AbortSignal, ms);
  };
  try {
    const { client } = openTable('test');
    const notSent = () => async () => {
      throw new Error('not sent');
    };
    client.middlewareStack.add(notSent, { step: 'initialize', priority: 'high' });
    const command = new GetCommand({ TableName: 'test', Key: { pk: 'a', sk: 'a' } });
    await runInRequest(requestUntil(endless()), () => client.send(command)).catch(() => undefined);
    return times;
  } finally {
    AbortSignal.timeout = timeout;
  }
};

const CALL_OF_THE_TABLE =
  'a call waits at most 0.5 s for a connection and 1 s for a response, and is sent three times within 3 s';

const NUMBERS: readonly (readonly [
  what: string,
  actual: () => unknown,
  expected: unknown,
  page: string,
  text: string,
])[] = [
  [
    'an attempt at a registry',
    registryTimes,
    [6000],
    'adding-a-provider',
    'An attempt has 6 seconds at a registry',
  ],
  ['an attempt at an SMS provider', smsTimes, [8000], 'adding-a-provider', 'and 8 at an SMS provider'],
  [
    'the pause before an inquiry is repeated',
    retryPauses,
    [100, 300],
    'adding-a-provider',
    'repeated once, after 0.1 to 0.3 seconds',
  ],
  [
    'the timeouts and attempts of a call of the table',
    tableTimeouts,
    [500, 1000, 3],
    'scaling',
    CALL_OF_THE_TABLE,
  ],
  ['the time of a call of the table, all attempts included', callTimes, [3000], 'scaling', CALL_OF_THE_TABLE],
  [
    'the first read of a secret',
    () => TIMEOUTS,
    { connectionTimeout: 1000, requestTimeout: 2000, throwOnRequestTimeout: true },
    'operations',
    'Wait 15 minutes, and until `secret_refresh_failed` lines end',
  ],
];

test.each(NUMBERS)('%s has the numbers that the docs promise', async (_, actual, expected, page, text) => {
  expect(await actual()).toEqual(expected);
  expect(readFileSync(new URL(`../../docs/operators/${page}.md`, import.meta.url), 'utf8')).toContain(text);
});
