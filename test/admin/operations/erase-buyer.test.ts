import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { countsOf, eraseBuyer, readBuyerData } from '#admin/operations/buyers.ts';
import { removeUser } from '#admin/operations/users.ts';
import type { Seller } from '#admin/stores/seller-store.ts';
import { buyerStore, registrationOf } from '#shared/buyers/store.ts';
import { KeyedHash } from '#shared/secrets/keyed-hashes.ts';
import {
  codeKey,
  endedLinkKey,
  limitSortKey,
  limitsPartition,
  personKey,
  phoneLinkKey,
  phoneLinksPartition,
} from '#shared/table/keys.ts';
import { getItem } from '#shared/table/reads.ts';
import { userReads } from '#shared/users/read-users.ts';
import { codesOn } from '#test/shared/one-time-codes/codes-on.ts';
import { interceptedTable } from '#test/table/intercepted-table.ts';
import { itemsIn } from '#test/table/items-in.ts';
import { linkBuyer } from './linked-buyer.ts';
import { type TestAdministration, useAdministration } from './use-administration.ts';

const CURRENT = 'hash-under-the-current-key';
const OLDER = 'hash-under-an-older-key';
const HASHES = new KeyedHash(CURRENT, [OLDER]);
const COUNTS = { sellers: 2, users: 3, codes: 3, registrations: 1 };

const newAdministration = useAdministration();
let deployment: TestAdministration;
beforeEach(async () => {
  deployment = await newAdministration();
});

const put = (Item: Record<string, unknown>) =>
  deployment.table.client.send(new PutCommand({ TableName: deployment.table.name, Item }));

const itemsWithHashes = async () => {
  const items = await itemsIn(deployment.table);
  return {
    kept: items.filter(({ phone_hashes }) => phone_hashes !== undefined),
    others: items.filter(({ phone_hashes }) => phone_hashes === undefined),
  };
};

/** The text of all items but the records that keep the hashes of an erased phone for 35 days. */
const everything = async (): Promise<string> => JSON.stringify((await itemsWithHashes()).others);

const deploymentRecords = () => deployment.admin.audit.list('deployment', { limit: 10 });

/** A registered buyer that two sellers linked as three users, under two hashes, with one-time codes. */
const storeBuyer = async () => {
  const [first, second] = [await deployment.seller(), await deployment.seller('Other Shop')];
  await buyerStore(deployment.table).register(OLDER, 'byr_1', '2026-11-01T10:00:00.000Z');
  const users = [
    await linkBuyer(deployment.table, first.seller_id, OLDER),
    await linkBuyer(deployment.table, first.seller_id, CURRENT),
    await linkBuyer(deployment.table, second.seller_id, CURRENT),
  ];
  await put({ ...codeKey(OLDER, first.seller_id), version: 1, sends: [1] });
  await put({ ...codeKey(CURRENT, 'public'), version: 1, sends: [1] });
  await put({ ...codeKey(CURRENT, second.seller_id), version: 1, sends: [2] });
  for (const hash of [OLDER, CURRENT]) {
    await put({ pk: limitsPartition(`phone:${hash}`), sk: limitSortKey('DAY', 20_000), sms: 3, searches: 2 });
  }
  const other = await linkBuyer(deployment.table, first.seller_id, 'hash-of-another-phone');
  return { first, second, users, other };
};

describe('eraseBuyer', () => {
  it('removes the registration, the codes and the users of all sellers, under every hash', async () => {
    const { users, first, second, other } = await storeBuyer();
    expect(await eraseBuyer(deployment.admin, HASHES)).toEqual(COUNTS);
    expect(countsOf(await readBuyerData(deployment.admin, HASHES))).toEqual({
      sellers: 0,
      users: 0,
      codes: 0,
      registrations: 0,
    });
    expect(await deployment.admin.sellers.find(first.seller_id)).toMatchObject({
      user_count: 3,
      removed_count: 2,
    });
    expect(await deployment.admin.sellers.find(second.seller_id)).toMatchObject({ removed_count: 1 });
    const text = await everything();
    expect(HASHES.keys((hash) => hash).filter((hash) => text.includes(hash))).toEqual([]);
    expect(text.match(/Sara Ahmadi/g)).toHaveLength(1);
    expect(text).toContain(other.id);
    expect(users.every(({ id }) => text.includes(id))).toBe(true);
  });

  it('keeps the hashes of the phone for 35 days, in the record of the start, so that no import registers it again', async () => {
    await storeBuyer();
    await eraseBuyer(deployment.admin, HASHES);
    const { kept } = await itemsWithHashes();
    const ttl = deployment.clock() / 1000 + 35 * 86_400;
    expect(kept).toMatchObject([
      { action: 'buyer.erase_started', phone_hashes: HASHES.keys((hash) => hash), ttl },
    ]);
  });

  it('records who erased and the counts, without the phone, and each removed user in the audit of its seller', async () => {
    const { second, users } = await storeBuyer();
    await eraseBuyer(deployment.admin, HASHES);
    const records = await deploymentRecords();
    const record = { at: deployment.admin.now(), actor: 'local:tester', details: COUNTS };
    expect(records).toHaveLength(2);
    expect(records).toContainEqual({ ...record, action: 'buyer.erase_started' });
    expect(records).toContainEqual({ ...record, action: 'buyer.erased' });
    expect(await deployment.admin.audit.list(second.seller_id, { limit: 10 })).toContainEqual(
      expect.objectContaining({ action: 'user.removed', details: { user_id: users[2]?.id } }),
    );
    expect(JSON.stringify(records)).not.toMatch(/hash-under|0912|\+98/);
  });

  it('writes one event for each removed user into the log of its seller, with ids only', async () => {
    const { first, second, users } = await storeBuyer();
    await eraseBuyer(deployment.admin, HASHES);
    const removals = (await itemsIn(deployment.table)).filter(({ type }) => type === 'user.removed');
    const sellers = [first, first, second].map(({ seller_id }) => `EVENTS#${seller_id}`);
    const expected = users.map(({ id }, index) => [sellers[index], id, 'erasure']);
    expect(removals.map(({ pk, user_id, reason }) => [pk, user_id, reason]).sort()).toEqual(expected.sort());
    expect(JSON.stringify(removals)).not.toMatch(/hash-under|0912|\+98|Sara/);
  });

  it('records an erasure that finds nothing', async () => {
    const nothing = { sellers: 0, users: 0, codes: 0, registrations: 0 };
    expect(await eraseBuyer(deployment.admin, HASHES)).toEqual(nothing);
    expect(await deploymentRecords()).toContainEqual(
      expect.objectContaining({ action: 'buyer.erased', details: nothing }),
    );
  });

  it('deletes a phone link whose user does not exist or is removed', async () => {
    const { users, first } = await storeBuyer();
    await put({ ...phoneLinkKey(CURRENT, first.seller_id, 9), user_id: 'usr_0000009abcdefghijklmno' });
    const removed = { ...phoneLinkKey(OLDER, first.seller_id, 1), user_id: users[0]?.id };
    await removeUser(deployment.admin, {
      sellerId: first.seller_id,
      userId: users[0]?.id ?? '',
      reason: 'operator',
    });
    await put(removed);
    expect(await eraseBuyer(deployment.admin, HASHES)).toMatchObject({ users: 4 });
    expect((await readBuyerData(deployment.admin, HASHES)).links).toEqual([]);
  });

  it('keeps a user that has another phone, and deletes the phone link to it', async () => {
    const { first, other } = await storeBuyer();
    await put({ ...phoneLinkKey(CURRENT, first.seller_id, 3), user_id: other.id });
    expect(await eraseBuyer(deployment.admin, HASHES)).toMatchObject({ users: 4 });
    expect(await userReads(deployment.table).getUser(first.seller_id, other.id)).toEqual(other);
    expect((await readBuyerData(deployment.admin, HASHES)).links).toEqual([]);
  });

  it('keeps the person of a later link beside an ended link that it does not belong to', async () => {
    const seller = await deployment.seller();
    const person = personKey(seller.seller_id, 'linked again');
    await put({ ...person, phone_hash: CURRENT, user_id: 'usr_later' });
    await put({ ...endedLinkKey(CURRENT, seller.seller_id, 'linked again'), ended_at: 1 });
    await eraseBuyer(deployment.admin, HASHES);
    expect(await getItem(deployment.table, person)).toMatchObject({ user_id: 'usr_later' });
    expect((await readBuyerData(deployment.admin, HASHES)).links).toEqual([]);
  });

  it('keeps a user that was linked after the others were removed, with its phone link', async () => {
    const { first } = await storeBuyer();
    let reads = 0;
    const raced = interceptedTable(deployment.table, async ({ name, input }, send) => {
      const values = input.ExpressionAttributeValues as Record<string, unknown> | undefined;
      if (name === 'QueryCommand' && values?.[':pk'] === phoneLinksPartition(CURRENT)) {
        reads += 1;
        if (reads === 3) await linkBuyer(deployment.table, first.seller_id, CURRENT);
      }
      return send();
    });
    expect(await eraseBuyer({ ...deployment.admin, table: raced }, HASHES)).toEqual(COUNTS);
    expect((await readBuyerData(deployment.admin, HASHES)).links).toHaveLength(1);
  });

  it('removes a user that was linked right before the registration is removed', async () => {
    const { first } = await storeBuyer();
    let writes = 0;
    const meanwhile = async () => {
      writes += 1;
      await (writes === 1 && linkBuyer(deployment.table, first.seller_id, CURRENT));
    };
    const erasure = deployment.beforeEachWrite(meanwhile, () => eraseBuyer(deployment.admin, HASHES));
    expect(await erasure).toMatchObject({ users: 4 });
    expect((await readBuyerData(deployment.admin, HASHES)).links).toEqual([]);
  });
});

describe('an erasure beside a sign-in', () => {
  it.each([1, 2, 3, 4])(
    'leaves no registration when a code that was sent before is redeemed before write %i',
    async (turn) => {
      await storeBuyer();
      const owner = { phoneHash: 'hash-of-a-third-phone', audience: 'public' };
      const now = Math.floor(deployment.clock() / 1000);
      const { name } = deployment.table;
      const registration = registrationOf(name, owner.phoneHash, {
        buyerId: 'byr_3',
        registeredAt: deployment.admin.now(),
      });
      const { store, send } = codesOn(deployment.table);
      await send(owner, 'one.mac', now);
      let writes = 0;
      const meanwhile = async () => {
        writes += 1;
        await (writes === turn && store.redeem(owner, 'one.mac', { now, alsoWrite: [registration] }));
      };
      await deployment.beforeEachWrite(meanwhile, () =>
        eraseBuyer(deployment.admin, new KeyedHash(owner.phoneHash)),
      );
      const { isRegistered, codes } = await readBuyerData(deployment.admin, new KeyedHash(owner.phoneHash));
      expect([isRegistered, codes]).toEqual([false, []]);
    },
  );
});

describe('an interrupted erasure', () => {
  const OF_A_USER = ['write USERS REMOVED REMOVALS PERSON LINKS AUDIT SELLER EVENTS', 'write LINKS'];
  const OF_ENDED = ['write PERSON', 'write LINKS'];
  const WRITES = [
    ...['write CODE', 'write LIMIT', 'write BUYER AUDIT'],
    ...[...OF_A_USER, ...OF_A_USER, ...OF_ENDED],
    'write AUDIT',
  ];

  /** A buyer with a code, a count, a registration, two users and an ended link, under two hashes. */
  const storeLittle = async (): Promise<Seller> => {
    const { table } = deployment;
    const seller = await deployment.seller();
    const { seller_id } = seller;
    await buyerStore(table).register(OLDER, 'byr_1', '2026-11-01T10:00:00.000Z');
    for (const hash of [OLDER, CURRENT]) await linkBuyer(table, seller_id, hash);
    await put({ ...codeKey(OLDER, seller_id), version: 1, sends: [1] });
    await put({ pk: limitsPartition(`phone:${OLDER}`), sk: limitSortKey('DAY', 20_000), sms: 3 });
    for (const key of [personKey(seller_id, 'ended'), endedLinkKey(OLDER, seller_id, 'ended')])
      await put({ ...key, phone_hash: OLDER, ended_at: 1 });
    return seller;
  };

  it('makes exactly the listed writes', async () => {
    await storeLittle();
    expect(await deployment.writesOf(() => eraseBuyer(deployment.admin, HASHES))).toEqual(WRITES);
  });

  it('is completed by a last run, after runs that stop before each kind of write', async () => {
    const { seller_id } = await storeLittle();
    for (const write of [...new Set(WRITES)]) {
      await deployment.interruptedBefore(write, () => eraseBuyer(deployment.admin, HASHES));
      deployment.clock.advance(1);
    }
    await eraseBuyer(deployment.admin, HASHES);
    const text = await everything();
    expect(HASHES.keys((hash) => hash).filter((hash) => text.includes(hash))).toEqual([]);
    expect(await deploymentRecords()).toContainEqual(expect.objectContaining({ action: 'buyer.erased' }));
    expect(await deployment.admin.sellers.find(seller_id)).toMatchObject({ removed_count: 2 });
  });
});
