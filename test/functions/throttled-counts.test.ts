/** A key that makes its own counting item so hot that DynamoDB throttles it gets no answer that is not counted. */
import { type KeyLimitName, keyLimit } from '#shared/rate-limits/key-limits.ts';
import type { Limit } from '#shared/rate-limits/limit.ts';
import { limitKey } from '#shared/rate-limits/rate-limiter.ts';
import type { Table } from '#shared/table/client.ts';
import type { ItemKey } from '#shared/table/keys.ts';
import { newPerson } from '#test/generated-people.ts';
import { interceptedTable } from '#test/table/intercepted-table.ts';
import { useTable } from '#test/table/use-table.ts';
import { addSellers, createUserUnderTest, newBuyerIn } from './create-user-under-test.ts';
import { callerContext, type Reply } from './harness.ts';
import { sendOtpOn } from './send-otp-under-test.ts';
import { verifyOtpOn, WRONG } from './verify-otp-under-test.ts';

const table = useTable();
beforeAll(() => addSellers(table, 'sel_test'));

/** The table while it throttles the item in which a limit of the key is counted. */
const throttled = (limit: Limit): Table => {
  const { pk, sk } = limitKey(limit, 0);
  const unit = sk.slice(0, sk.indexOf('#'));
  return interceptedTable(table, ({ name, input }, send) => {
    const key = input.Key as ItemKey | undefined;
    if (name !== 'UpdateCommand' || key?.pk !== pk || !key.sk.startsWith(unit)) return send();
    const error = new Error('Throughput exceeds the current capacity of your table');
    return Promise.reject(Object.assign(error, { name: 'ProvisionedThroughputExceededException' }));
  });
};

/** A request that is counted by the limit, and how many calls to a provider were made for it. */
const REQUESTS: Readonly<
  Record<KeyLimitName, (on: Table, authorizer: Record<string, string>) => Promise<[Reply, called: number]>>
> = {
  'sms-per-hour': async (on, authorizer) => {
    const { send, sent } = sendOtpOn(on);
    return [await send(newPerson().phone, authorizer), sent.length];
  },
  'failed-checks-per-hour': async (on, authorizer) => {
    const { call, paid } = createUserUnderTest(on, { registry: { identity: 'not_found' } });
    return [await call({ body: await newBuyerIn(table), authorizer }), paid.identity];
  },
  'refused-links-per-hour': async (on, authorizer) => {
    const { call, paid } = createUserUnderTest(on);
    return [await call({ body: newPerson(), authorizer }), paid.identity];
  },
  'paid-checks-per-day': async (on, authorizer) => {
    const { call, paid } = createUserUnderTest(on);
    return [await call({ body: await newBuyerIn(table), authorizer }), paid.identity];
  },
  'failed-verifies-per-hour': async (on, authorizer) => {
    const { send, verify } = verifyOtpOn(table, { on });
    const { phone } = newPerson();
    await send(phone);
    return [await verify(phone, WRONG, authorizer), 0];
  },
};

it.each([
  ['sms-per-hour', 0],
  ['failed-checks-per-hour', 1],
  ['refused-links-per-hour', 0],
  ['paid-checks-per-day', 0],
  ['failed-verifies-per-hour', 0],
] as const satisfies readonly (readonly [KeyLimitName, number])[])(
  'a request that %s cannot count is service_unavailable, tells no result, and made %i checks or sends',
  async (name, calls) => {
    const key = { keyId: `key_${name}`, plan: 'professional', limits: {} } as const;
    const authorizer = { ...callerContext, scopes: 'users:write', keyId: key.keyId };
    const [{ status, json, headers }, called] = await REQUESTS[name](
      throttled(keyLimit(name, key)),
      authorizer,
    );
    expect([status, json.code, headers['Retry-After']]).toEqual([503, 'service_unavailable', '5']);
    expect(called).toBe(calls);
  },
);
