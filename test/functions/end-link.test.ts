import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import { codeKey } from '#shared/table/keys.ts';
import { newPerson } from '#test/generated-people.ts';
import { codesOn, rejected } from '#test/shared/one-time-codes/codes-on.ts';
import { createSeller, itemsOf } from '#test/shared/users/linking.ts';
import { userStore } from '#test/shared/users/user-store.ts';
import { interceptedTable } from '#test/table/intercepted-table.ts';
import { useTable } from '#test/table/use-table.ts';
import { buyerAppOn } from './buyer-links-under-test.ts';
import { testHashes } from './create-user-deps.ts';
import { linkPerson } from './users-on.ts';

const table = useTable();

beforeAll(async () => {
  await createSeller(table, 'sel_books');
  await createSeller(table, 'sel_shoes');
});

const linkIdOf = async (person: ReturnType<typeof newPerson>, app = buyerAppOn(table)): Promise<string> =>
  (await app.find(person)).json.data[0].id;

const isLinked = async (id: string, sellerId = 'sel_books') =>
  (await userStore(table).getUser(sellerId, id)) !== undefined;

describe('204', () => {
  it('removes the user of one link with an event that names the buyer, and keeps those of other sellers', async () => {
    const person = newPerson();
    const [books, shoes] = [
      await linkPerson(table, 'sel_books', person),
      await linkPerson(table, 'sel_shoes', person),
    ];
    const { json } = await buyerAppOn(table).find(person);
    const { id } = json.data.find(({ seller }: { seller: { id: string } }) => seller.id === 'sel_books');
    const { status, json: body } = await buyerAppOn(table).end(person.phone, id);
    expect([status, body]).toEqual([204, undefined]);
    expect([await isLinked(books.id), await isLinked(shoes.id, 'sel_shoes')]).toEqual([false, true]);
    const events = await itemsOf(table, 'EVENTS#sel_books');
    expect(events.find(({ user_id, type }) => user_id === books.id && type === 'user.removed')).toMatchObject(
      {
        reason: 'buyer',
      },
    );
  });

  it('is the response for an unknown id, a malformed one, one of another phone and the same again, and changes nothing', async () => {
    const [person, other] = [newPerson(), newPerson()];
    const user = await linkPerson(table, 'sel_books', person);
    const id = await linkIdOf(person);
    const { end } = buyerAppOn(table);
    const replies = [
      await end(person.phone, `lnk_${'A'.repeat(22)}`),
      await end(person.phone, 'nothing'),
      await end(other.phone, id),
    ];
    expect(replies.map(({ status }) => status)).toEqual([204, 204, 204]);
    expect(await isLinked(user.id)).toBe(true);
    expect([(await end(person.phone, id)).status, (await end(person.phone, id)).status]).toEqual([204, 204]);
    expect(await isLinked(user.id)).toBe(false);
  });

  it('keeps the ended link by keyed hashes only, in the person item and below the phone', async () => {
    const person = newPerson();
    await linkPerson(table, 'sel_books', person);
    await buyerAppOn(table).end(person.phone, await linkIdOf(person));
    const { current: phoneHash } = await testHashes.phone(person.phone);
    const { current: personHash } = await testHashes.person('sel_books', person.national_id);
    const ended_at = Date.parse('2026-11-21T08:00:00Z') / 1000;
    expect(await itemsOf(table, `PERSON#sel_books#${personHash}`)).toEqual([
      { pk: `PERSON#sel_books#${personHash}`, sk: 'PERSON', phone_hash: phoneHash, ended_at },
    ]);
    expect(await itemsOf(table, `LINKS#${phoneHash}`)).toMatchObject([
      { sk: `ENDED#sel_books#${personHash}`, ended_at },
    ]);
  });
});

describe('the outstanding code of the seller', () => {
  const NOW = Date.parse('2026-11-21T08:00:00Z') / 1000;

  /** Sends a code for each of two sellers to the phone of a linked person, and fails one try of each. */
  const withCodes = async () => {
    const person = newPerson();
    await linkPerson(table, 'sel_books', person);
    const { store, send } = codesOn(table);
    const { current: phoneHash } = await testHashes.phone(person.phone);
    const [books, shoes] = ['sel_books', 'sel_shoes'].map((audience) => ({ phoneHash, audience }));
    const owners = [books, shoes] as { phoneHash: string; audience: string }[];
    for (const owner of owners) {
      await send(owner, 'typed before the end', NOW - 10);
      await store.countTry(owner, NOW - 5);
    }
    const recordOf = async (index: number) =>
      (await store.read(owners[index] as (typeof owners)[0], [], 0)).record;
    return { person, store, owners, recordOf };
  };

  it('ends with the link, so that it cannot lift the end later; its failures and its sends stay', async () => {
    const { person, store, owners, recordOf } = await withCodes();
    const before = await recordOf(0);
    expect((await buyerAppOn(table).end(person.phone, await linkIdOf(person))).status).toBe(204);
    const { code, ...rest } = before;
    expect(code).toBeDefined();
    expect(await recordOf(0)).toEqual({ ...rest, version: before.version + 1 });
    expect(await store.countTry(owners[0] as (typeof owners)[0], NOW)).toEqual(rejected);
    expect((await recordOf(1)).code).toBeDefined();
  });

  it('cannot lift the end when it is redeemed while the end is under way', async () => {
    const { person, store, owners, recordOf } = await withCodes();
    const id = await linkIdOf(person);
    const mac = String((await recordOf(0)).code?.mac);
    let isRedeemed: boolean | undefined;
    const raced = interceptedTable(table, async ({ name }, send) => {
      if (name === 'TransactWriteCommand' && isRedeemed === undefined) {
        app.clock.advance(10);
        isRedeemed = await store.redeem(owners[0] as (typeof owners)[0], mac, { now: NOW + 10 });
      }
      return send();
    });
    const app = buyerAppOn(raced);
    expect([(await app.end(person.phone, id)).status, isRedeemed]).toEqual([204, true]);
    const { current: personHash } = await testHashes.person('sel_books', person.national_id);
    expect(await itemsOf(table, `PERSON#sel_books#${personHash}`)).toMatchObject([{ ended_at: NOW + 10 }]);
  });

  it('can be deleted after the end has read it: the link ends, and no code comes back', async () => {
    const { person, recordOf } = await withCodes();
    const id = await linkIdOf(person);
    const Key = codeKey((await testHashes.phone(person.phone)).current, 'sel_books');
    const raced = interceptedTable(table, async ({ name }, send) => {
      if (name === 'TransactWriteCommand')
        await table.client.send(new DeleteCommand({ TableName: table.name, Key }));
      return send();
    });
    expect((await buyerAppOn(raced).end(person.phone, id)).status).toBe(204);
    expect((await buyerAppOn(table).find(person)).json).toEqual({ data: [] });
    expect((await recordOf(0)).version).toBe(0);
  });

  it('leaves nothing behind for a phone without a code', async () => {
    const person = newPerson();
    await linkPerson(table, 'sel_books', person);
    await buyerAppOn(table).end(person.phone, await linkIdOf(person));
    expect(await itemsOf(table, `CODE#${(await testHashes.phone(person.phone)).current}`)).toEqual([]);
  });
});
