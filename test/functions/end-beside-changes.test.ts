import { AsyncResource } from 'node:async_hooks';
import { eraseBuyer } from '#admin/operations/buyers.ts';
import type { KeyedHash } from '#shared/secrets/keyed-hashes.ts';
import type { Table } from '#shared/table/client.ts';
import { buyerKey, eventsPartition, personKey, phoneLinksPartition, sellerKey } from '#shared/table/keys.ts';
import { getItem, queryAll } from '#shared/table/reads.ts';
import { type TestAdministration, useAdministration } from '#test/admin/operations/use-administration.ts';
import { bearerOf } from '#test/fakes/buyer-tokens.ts';
import { itForAll } from '#test/for-all.ts';
import { isFullRun } from '#test/full-run.ts';
import { BORN, itemsOf, linked } from '#test/shared/users/linking.ts';
import { userStore } from '#test/shared/users/user-store.ts';
import { interceptedTable } from '#test/table/intercepted-table.ts';
import { buyerAppOn } from './buyer-links-under-test.ts';
import { testHashes } from './create-user-deps.ts';
import { addSellers, createUserUnderTest, newBuyerIn, newKey } from './create-user-under-test.ts';

const SELLER = 'sel_test';
/** When each link is ended, in epoch seconds. */
const ENDED_AT = Date.parse('2026-11-21T08:00:00Z') / 1000;
const AT = '2026-11-21T08:00:30.000Z';

const newAdministration = useAdministration();
let deployment: TestAdministration;
beforeAll(async () => {
  deployment = await newAdministration();
  await addSellers(deployment.table, SELLER);
});
afterAll(() => deployment.table.stop());

/** A linked person and its second phone, whose buyer is registered too. */
const newLink = async () => {
  const { table } = deployment;
  const [person, { phone: otherPhone }] = [await newBuyerIn(table), await newBuyerIn(table)];
  const { national_id, birth_date, phone } = person;
  const personHash = await testHashes.person(SELLER, national_id);
  const phones = [await testHashes.phone(phone), await testHashes.phone(otherPhone)] as const;
  const { id } = await linked(userStore(table), {
    sellerId: SELLER,
    person: personHash,
    phone: phones[0],
    buyer: buyerKey(phones[0].current),
    body: { ...person, birth_date: BORN },
    linkedAt: '2026-11-21T07:00:00.000Z',
  });
  return {
    person,
    id,
    check: { national_id, birth_date, phone: otherPhone },
    linkId: (await testHashes.linkId(SELLER, personHash.current, phone)).current,
    personHash: personHash.current,
    phones,
  };
};

type Link = Awaited<ReturnType<typeof newLink>>;

const end = async ({ person, linkId }: Link, on: Table) => {
  expect((await buyerAppOn(on).end(person.phone, linkId)).status).toBe(204);
};

/** Links the person again, a minute after the end. `authTime`: of a token. */
const linkAgain = async ({ person }: Link, on: Table, authTime?: number): Promise<number> => {
  const { call, clock } = createUserUnderTest(on);
  clock.advance(60);
  const headers = authTime === undefined ? {} : await bearerOf(person.phone, SELLER, authTime);
  return (await call({ body: person, authorizer: newKey(), headers })).status;
};

const remove = ({ id }: Link, on: Table) =>
  userStore(on).removeUser(SELLER, id, { removedAt: AT, reason: 'seller' });

type Change = (link: Link, on: Table) => Promise<unknown>;

const erase: Change = ({ phones: [phone] }, table) => eraseBuyer({ ...deployment.admin, table }, phone);

const withNewSignIn: Change = (link, on) => linkAgain(link, on, ENDED_AT + 30);

const repeatedLink: Change = (link, on) => linkAgain(link, on);

const removeAndLink: Change = async (link, on) => {
  await remove(link, on);
  await linkAgain(link, on);
};

/** An end that reads the user after its removal and before its next link finds no link: accepted, as docs/operators/security.md says. */
const ACCEPTED = new Map([[removeAndLink, ['no link of the phone is left, at call 3']]]);

const CHANGES: readonly (readonly [what: string, change: Change])[] = [
  [
    'a correction',
    ({ id }, on) =>
      userStore(on).updateUser(SELLER, id, { update: { display_name: 'Changed' }, updatedAt: AT }),
  ],
  ['a removal by the seller', remove],
  [
    'a check with another phone',
    ({ id, check: body }, on) => createUserUnderTest(on).check({ path: { id }, body, authorizer: newKey() }),
  ],
  ['a repeated link', repeatedLink],
  ['a link with a token from after the end', withNewSignIn],
  ['a removal and another link', removeAndLink],
  ['an erasure of the buyer', erase],
];

/** Before their end these find the user linked, and make no transaction. */
const WITHOUT_TRANSACTION = [repeatedLink, withNewSignIn];

/** Before a call of an operation, by its number, or before its first transaction. */
type Moment = number | 'transaction';

/** Runs `operation`, at one of whose moments `other` runs. Returns whether there was that moment. */
const runWith = async (
  operation: (on: Table) => Promise<unknown>,
  other: () => Promise<unknown>,
  moment: Moment,
): Promise<boolean> => {
  // Its writes and its deadline are not those of the operation.
  const apart = AsyncResource.bind(other);
  let calls = 0;
  let isReached = false;
  const table = interceptedTable(deployment.table, async ({ name }, send) => {
    calls += 1;
    if (!isReached && (calls === moment || (moment === 'transaction' && name.startsWith('Transact')))) {
      isReached = true;
      await apart();
    }
    return send();
  });
  await operation(table);
  return isReached;
};

const below = ({ current }: KeyedHash) => queryAll(deployment.table, { pk: phoneLinksPartition(current) });

/** What a change beside an end must not leave. `isLast`: the end was, so that it ends whatever the change made of the link. */
const faultsOf = async (link: Link, change: Change, isLast: boolean): Promise<string[]> => {
  const { table } = deployment;
  const events = (await queryAll(table, { pk: eventsPartition(SELLER) })).filter(
    ({ user_id }) => user_id === link.id,
  );
  const person = await getItem(table, personKey(SELLER, link.personHash));
  const ofPhone = await below(link.phones[0]);
  const ofOther = await below(link.phones[1]);
  const ends = [...ofPhone, ...ofOther].filter(({ ended_at }) => ended_at !== undefined);
  const isEnded = events.some(({ reason }) => reason === 'buyer');
  const mayLink = change === withNewSignIn || change === erase;
  const holds = {
    'nobody is linked after the end': !isEnded || mayLink || person?.user_id === undefined,
    'both items hold one end': ends.length <= 1 && ends[0]?.ended_at === person?.ended_at,
    'no link of the phone is left': !isLast || ofPhone.every(({ user_id }) => user_id === undefined),
    'an erasure leaves nothing': change !== erase || (person === undefined && ofPhone.length === 0),
    'the end refuses the next link': !isEnded || mayLink || (await linkAgain(link, table)) === 403,
  };
  return Object.entries(holds).flatMap(([what, isTrue]) => (isTrue ? [] : [what]));
};

/** The moments of an operation that are tried, until there is none: in the full run every one. */
const momentAfter = (moments: number): Moment => (isFullRun ? moments + 1 : 'transaction');

/** Both at the moments of the longer one, which is the end or the change. Returns the faults, and how many moments there were. */
const atMoments = async (change: Change, longer: 'end' | 'change') => {
  const run = (link: Link, moment: Moment): Promise<boolean> => {
    const { table } = deployment;
    return longer === 'end'
      ? runWith(
          (on) => end(link, on),
          () => change(link, table),
          moment,
        )
      : runWith(
          (on) => change(link, on),
          () => end(link, table),
          moment,
        );
  };
  const faults: string[] = [];
  let moments = 0;
  do {
    const link = await newLink();
    const moment = momentAfter(moments);
    if (!(await run(link, moment))) break;
    moments += 1;
    faults.push(
      ...(await faultsOf(link, change, longer === 'end')).map((fault) => `${fault}, at call ${moment}`),
    );
  } while (isFullRun);
  return { faults, moments };
};

describe('an end by the buyer beside another change of the user', () => {
  itForAll(CHANGES)(
    'holds, and both of its items agree, if the change comes before the transaction of the end, in the full run before any call',
    async (_what, change) => {
      const { faults, moments } = await atMoments(change, 'end');
      expect(faults).toEqual((isFullRun && ACCEPTED.get(change)) || []);
      expect(moments).toBeGreaterThanOrEqual(isFullRun ? 4 : 1);
    },
  );

  itForAll(CHANGES.filter(([, change]) => isFullRun || !WITHOUT_TRANSACTION.includes(change)))(
    'holds, and both of its items agree, if the end comes before the transaction of the change, in the full run before any call',
    async (_what, change) => {
      const { faults, moments } = await atMoments(change, 'change');
      expect(faults).toEqual([]);
      expect(moments).toBeGreaterThanOrEqual(isFullRun ? 2 : 1);
    },
  );

  // Events without a gap, and counts that are those of the users, whatever the order of the tests was.
  afterAll(async () => {
    const events = await queryAll(deployment.table, { pk: eventsPartition(SELLER) });
    const { event_count, user_count, removed_count } =
      (await getItem(deployment.table, sellerKey(SELLER))) ?? {};
    expect(events.map(({ sk }) => Number(sk))).toEqual(events.map((_, index) => index + 1));
    expect(event_count).toBe(events.length);
    const users = await itemsOf(deployment.table, `USERS#${SELLER}`);
    expect(Number(user_count) - Number(removed_count)).toBe(users.length);
  });
});
