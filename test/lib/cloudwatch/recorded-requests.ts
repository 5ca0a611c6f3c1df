/** One request of each kind, made by the real code: the status that API Gateway counts, and the metrics of the log lines. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { APIGatewayRequestAuthorizerEvent } from 'aws-lambda';
import { authorize } from '#functions/authorizer.ts';
import { handle as listUsers } from '#functions/list-users.ts';
import { handle as updateUser } from '#functions/update-user.ts';
import { newApiKey } from '#shared/api-keys/secret.ts';
import { systemClock } from '#shared/clock.ts';
import { identityRegistryFrom } from '#shared/identity-registry/configured.ts';
import { type EventName, logEvent, redirectLog } from '#shared/log.ts';
import { routes } from '#shared/routes.ts';
import { smsSenderFrom } from '#shared/sms/configured.ts';
import type { Table } from '#shared/table/client.ts';
import { Conflict, retryConflicts } from '#shared/table/retry-conflicts.ts';
import { userIdAt } from '#shared/users/user-id.ts';
import { fixedSecret } from '#test/fakes/secret.ts';
import { addSellers, createUserUnderTest } from '#test/functions/create-user-under-test.ts';
import { functionUnderTest } from '#test/functions/harness.ts';
import { sendOtpOn } from '#test/functions/send-otp-under-test.ts';
import { verifyOtpOn, WRONG } from '#test/functions/verify-otp-under-test.ts';
import { newPhone } from '#test/generated-people.ts';
import { metricName } from './replay.ts';

export interface RecordedRequest {
  /** Undefined for what is no request. */
  readonly status: number | undefined;
  readonly logged: readonly { readonly metric: string; readonly value: number }[];
}

interface MetricDocument {
  readonly Namespace: string;
  readonly Dimensions: readonly (readonly string[])[];
  readonly Metrics: readonly { readonly Name: string }[];
}

/** Returns the metrics of the embedded-metric documents in lines of the log. */
const metricsIn = (lines: readonly string[]): RecordedRequest['logged'] =>
  lines
    .map((line) => JSON.parse(line))
    .flatMap((line) =>
      ((line._aws?.CloudWatchMetrics ?? []) as readonly MetricDocument[]).flatMap(
        ({ Namespace, Dimensions, Metrics }) =>
          Dimensions.flatMap((dimensions) =>
            Metrics.map(({ Name }) => ({
              metric: metricName(
                Namespace,
                Name,
                Object.fromEntries(dimensions.map((name) => [name, line[name]])),
              ),
              value: Number(line[Name]),
            })),
          ),
      ),
    );

/** Returns what one event adds, without a request. */
const event = (name: EventName, fields: object): RecordedRequest => {
  const lines: string[] = [];
  const restore = redirectLog((line) => lines.push(line));
  logEvent(name, fields);
  restore();
  return { status: undefined, logged: metricsIn(lines) };
};

interface UnderTest {
  readonly lines: string[];
}

const record = async (
  { lines }: UnderTest,
  request: () => Promise<{ readonly status: number }>,
): Promise<RecordedRequest> => {
  lines.length = 0;
  const { status } = await request();
  return { status, logged: metricsIn(lines) };
};

const listing = (table: Table, listPage: () => Promise<unknown>): Promise<RecordedRequest> => {
  const list = functionUnderTest(routes['list-users'], listUsers as never, table, {
    users: { listPage },
  } as never);
  return record(list, () => list.call());
};

const conflicting = (table: Table): Promise<RecordedRequest> => {
  const update = functionUnderTest(routes['update-user'], updateUser as never, table, {
    users: { updateUser: () => retryConflicts({ leftMs: () => -1 }, async () => new Conflict()) },
  } as never);
  const call = { path: { id: userIdAt(1, '0'.repeat(15)) }, body: { display_name: 'Sara' } };
  return record(update, () => update.call(call));
};

/** Without credentials a provider fails before it is called, and the sandbox needs none. */
const NO_CREDENTIALS = fixedSecret('{}');

const sending = (
  table: Table,
  providers: readonly string[],
  credentials = NO_CREDENTIALS,
): Promise<RecordedRequest> => {
  const under = sendOtpOn(table);
  const sender = smsSenderFrom(providers, credentials);
  const phone = newPhone();
  under.provider.name = 'kavenegar';
  under.provider.onSend = () =>
    sender.sendCode({ phone, code: '493027', locale: 'fa', templates: {} }, AbortSignal.timeout(60_000));
  return record(under, () => under.send(phone));
};

/** A send that both providers refuse with their own status. */
const sendingRefused = async (table: Table, kavenegar: number, smsIr: number): Promise<RecordedRequest> => {
  const server = createServer((request, response) => {
    const json = request.url?.endsWith('.json') ? { return: { status: kavenegar } } : { status: smsIr };
    request.resume().on('end', () => response.writeHead(400).end(JSON.stringify(json)));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const base_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const secret = {
    kavenegar: { api_key: 'key', template: 'sign-in', base_url },
    'sms-ir': { api_key: 'key', template_id: 1, base_url },
  };
  const recorded = await sending(table, ['kavenegar', 'sms-ir'], fixedSecret(JSON.stringify(secret)));
  server.close();
  return recorded;
};

/** A send of a seller whose share of the ceiling is used up. */
const sendingOverShare = async (table: Table): Promise<RecordedRequest> => {
  const under = sendOtpOn(table, { smsPerDay: 4 });
  await under.send(newPhone());
  return record(under, () => under.send(newPhone()));
};

const linking = (table: Table, providers: readonly string[]): Promise<RecordedRequest> => {
  const identityRegistry = identityRegistryFrom(providers, NO_CREDENTIALS);
  const under = createUserUnderTest(table, { deps: (own) => ({ ...own, identityRegistry }) });
  return record(under, () => under.link());
};

const verifyingWrongCode = (table: Table): Promise<RecordedRequest> => {
  const under = verifyOtpOn(table);
  const phone = newPhone();
  return record(under, async () => {
    await under.send(phone);
    return under.verify(phone, WRONG);
  });
};

/** A request for which the authorizer makes no decision: `status` is that of the gateway response. */
const deciding = async (status: number, key: string, error?: Error): Promise<RecordedRequest> => {
  const lines: string[] = [];
  const restore = redirectLog((line) => lines.push(line));
  const request = {
    headers: { 'x-api-key': key },
    methodArn: 'arn:aws:execute-api:eu-central-1:000000000000:api/test/GET/v1/users',
    requestContext: { requestId: 'chosen', extendedRequestId: 'req-1' },
  } as unknown as APIGatewayRequestAuthorizerEvent;
  const findSecret = async () => {
    if (error !== undefined) throw error;
    return undefined;
  };
  const deps = { secrets: { findSecret }, keyPrefix: 'blk_live_', clock: systemClock } as const;
  await authorize(request, deps).catch(() => undefined);
  restore();
  return { status, logged: metricsIn(lines) };
};

const THROTTLED = Object.assign(new Error('slow down'), { name: 'ThrottlingException' });

/** Records one request of each kind. The functions run on a table of the test. */
export const recordRequests = async (table: Table) => {
  await addSellers(table, 'sel_test');
  return {
    list: await listing(table, async () => ({ users: [], total: 0, totalPages: 0 })),
    listInTwoSeconds: {
      ...event('request_completed', {
        operation: 'list-users',
        outcome: 'ok',
        status: 200,
        duration_ms: 2400,
        plan: 'free',
      }),
      status: 200,
    },
    page: {
      ...event('request_completed', { operation: 'get-docs', outcome: 'ok', status: 200, duration_ms: 5 }),
      status: 200,
    },
    noPage: {
      ...event('request_completed', {
        operation: 'get-docs',
        outcome: 'not_found',
        status: 404,
        duration_ms: 5,
      }),
      status: 404,
    },
    listOfAThrottledTable: await listing(table, () => Promise.reject(THROTTLED)),
    listWithADefect: await listing(table, () => Promise.reject(new TypeError('x is undefined'))),
    changeThatConflicts: await conflicting(table),
    send: await sending(table, ['sandbox']),
    sendByTheSecond: await sending(table, ['kavenegar', 'sandbox']),
    sendByNone: await sending(table, ['kavenegar', 'sms-ir']),
    sendToARejectedNumber: await sendingRefused(table, 411, 104),
    sendWithARefusedTemplate: await sendingRefused(table, 424, 113),
    sendOverShare: await sendingOverShare(table),
    link: await linking(table, ['sandbox']),
    linkByTheSecond: await linking(table, ['jibit', 'sandbox']),
    linkByNone: await linking(table, ['jibit', 'zohal']),
    wrongCode: await verifyingWrongCode(table),
    redeemed: event('code_redeemed', { provider: 'kavenegar', seller_id: 'sel_a' }),
    sentByTheOther: event('code_sent', { provider: 'sms-ir', seller_id: 'sel_a' }),
    redeemedOfTheOther: event('code_redeemed', { provider: 'sms-ir', seller_id: 'sel_a' }),
    failedVerifyOfTheApp: event('failed_verifies_above_limit', { operation: 'verify-otp' }),
    malformedKey: await deciding(401, 'blk_live_x'),
    unknownKey: await deciding(401, newApiKey('blk_live_')),
    keyOfAThrottledTable: await deciding(503, newApiKey('blk_live_'), THROTTLED),
    keyThatCrashesTheAuthorizer: await deciding(503, newApiKey('blk_live_'), new TypeError('no such plan')),
    /** API Gateway answers in place of a function that crashed, timed out or was not started for want of concurrency. */
    answeredByTheGateway: { status: 503, logged: [] },
    uncounted: event('rate_limiter_unreachable', { operation: 'list-users' }),
    unreadSecret: event('secret_refresh_failed', { secret: 'providers' }),
    smsAt80Percent: event('stage_ceiling_counted', { ceiling: 'sms-per-day', used_percent: 80 }),
    smsAt10Percent: event('stage_ceiling_counted', { ceiling: 'sms-per-day', used_percent: 10 }),
    checkAt80Percent: event('stage_ceiling_counted', { ceiling: 'paid-checks-per-day', used_percent: 80 }),
    checkAt10Percent: event('stage_ceiling_counted', { ceiling: 'paid-checks-per-day', used_percent: 10 }),
  };
};

export type RequestKind = keyof Awaited<ReturnType<typeof recordRequests>>;
