import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { describeBuyer } from '#admin/operations/describe-buyer.ts';
import { buyerStore } from '#shared/buyers/store.ts';
import { phoneLimit } from '#shared/rate-limits/person-limits.ts';
import { limitKey } from '#shared/rate-limits/rate-limiter.ts';
import { KeyedHash } from '#shared/secrets/keyed-hashes.ts';
import { codeKey, endedLinkKey } from '#shared/table/keys.ts';
import { codesOn } from '#test/shared/one-time-codes/codes-on.ts';
import { limiterOn } from '#test/shared/rate-limits/limiter-on.ts';
import { linkBuyer } from './linked-buyer.ts';
import { type TestAdministration, useAdministration } from './use-administration.ts';

const PHONE = new KeyedHash('current', ['older']);

const newAdministration = useAdministration();
let deployment: TestAdministration;
let now: number;
beforeEach(async () => {
  deployment = await newAdministration();
  deployment.clock.set('2026-11-22T10:00:00Z');
  now = deployment.clock() / 1000;
});

const put = (Item: Record<string, unknown>) =>
  deployment.table.client.send(new PutCommand({ TableName: deployment.table.name, Item }));

const describePhone = () => describeBuyer(deployment.admin, PHONE);

const NOTHING_ELSE = {
  buyer_id: null,
  registered_at: null,
  sms_today: 0,
  searches_today: 0,
  codes: [],
  links: [],
  ended_links: [],
};

it('returns undefined for a phone that nothing is stored about', async () => {
  expect(await describePhone()).toBeUndefined();
});

it('shows a registration under an older hash', async () => {
  await buyerStore(deployment.table).register('older', 'byr_1', '2026-11-01T10:00:00.000Z');
  const registration = { buyer_id: 'byr_1', registered_at: '2026-11-01T10:00:00.000Z' };
  expect(await describePhone()).toEqual({ ...NOTHING_ELSE, ...registration });
});

it('shows of each seller the sends of 24 hours, the tries of the code, the failed codes and the end of the lock', async () => {
  const [first, second] = [await deployment.seller('First'), await deployment.seller('Second')];
  const { send, fail } = codesOn(deployment.table);
  const owner = { phoneHash: 'current', audience: first.seller_id };
  await send(owner, 'old', now - 90_000);
  await send(owner, 'one', now - 3600);
  await fail(owner, 5, now - 3600);
  await send(owner, 'two', now - 120);
  await fail(owner, 5, now - 60);
  const other = { phoneHash: 'current', audience: second.seller_id };
  await send(other, 'three', now - 301);
  await fail(other, 3, now - 301);
  expect((await describePhone())?.codes.sort((a, b) => a.sends - b.sends)).toEqual([
    {
      seller_id: second.seller_id,
      seller_name: 'Second',
      sends: 1,
      last_sent_at: '2026-11-22T09:54:59Z',
      failed_codes: 3,
      tries: null,
      locked_until: null,
    },
    {
      seller_id: first.seller_id,
      seller_name: 'First',
      sends: 2,
      last_sent_at: '2026-11-22T09:58:00Z',
      failed_codes: 10,
      tries: 5,
      locked_until: '2026-11-22T10:14:00Z',
    },
  ]);
});

it('says of a lock after 100 failed codes that it ends by an unlock only', async () => {
  await put({ ...codeKey('current', 'public'), version: 1, sends: [], failures: 100, lock_at: 100 });
  expect(await describePhone()).toEqual({
    ...NOTHING_ELSE,
    codes: [
      {
        seller_id: 'public',
        seller_name: null,
        sends: 0,
        last_sent_at: null,
        failed_codes: 100,
        tries: null,
        locked_until: 'until unlocked',
      },
    ],
  });
});

it('shows no codes under an older hash, which are void, but that something is stored', async () => {
  await put({ ...codeKey('older', 'public'), version: 1, sends: [], failures: 100, lock_at: 100 });
  expect(await describePhone()).toEqual(NOTHING_ELSE);
});

it('shows what the phone used today of its limits over all sellers', async () => {
  const limiter = limiterOn(deployment.table);
  await limiter.increment(phoneLimit('sms', PHONE), deployment.clock());
  await limiter.increment(phoneLimit('sms', PHONE), deployment.clock() - 86_400_000);
  expect(await describePhone()).toEqual({ ...NOTHING_ELSE, sms_today: 1 });
});

it('shows all that the phone used of a limit that was lowered since', async () => {
  const limit = phoneLimit('sms', PHONE);
  await put({ ...limitKey(limit, deployment.clock()), sms: limit.limit + 1 });
  expect(await describePhone()).toEqual({ ...NOTHING_ELSE, sms_today: limit.limit + 1 });
});

it('shows the links of all sellers, under each hash, and those that the buyer ended, of a deleted seller too', async () => {
  const seller = await deployment.seller('Kaveh Books');
  const user = await linkBuyer(deployment.table, seller.seller_id, 'older');
  await put({ ...endedLinkKey('current', 'sel_deleted', 'person'), phone_hash: 'current', ended_at: now });
  expect(await describePhone()).toEqual({
    ...NOTHING_ELSE,
    links: [
      {
        seller_id: seller.seller_id,
        seller_name: 'Kaveh Books',
        user_id: user.id,
        display_name: user.display_name,
        created_at: user.created_at,
        checked_at: user.checked_at,
      },
    ],
    ended_links: [{ seller_id: 'sel_deleted', seller_name: null, ended_at: '2026-11-22T10:00:00Z' }],
  });
});
