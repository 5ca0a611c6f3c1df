import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { sellerKey } from '#shared/table/keys.ts';
import { claimsOf, signer } from '#test/fakes/buyer-tokens.ts';
import { isFullRun } from '#test/full-run.ts';
import { newPerson } from '#test/generated-people.ts';
import { createSeller } from '#test/shared/users/linking.ts';
import { userStore } from '#test/shared/users/user-store.ts';
import { countedTable } from '#test/table/counted-table.ts';
import { interceptedTable } from '#test/table/intercepted-table.ts';
import { useTable } from '#test/table/use-table.ts';
import { buyerAppOn } from './buyer-links-under-test.ts';
import { createUserUnderTest, newBuyerIn, newKey } from './create-user-under-test.ts';
import { linkPerson } from './users-on.ts';

const table = useTable();

beforeAll(async () => {
  for (const [sellerId, name] of [
    ['sel_books', 'Kaveh Books'],
    ['sel_shoes', 'Parvin Shoes'],
  ] as const) {
    await createSeller(table, sellerId);
    const counts = { user_count: 0, removed_count: 0, event_count: 0 };
    await table.client.send(
      new PutCommand({ TableName: table.name, Item: { ...sellerKey(sellerId), ...counts, name } }),
    );
  }
});

const withPhone = (phone: string) => ({ ...newPerson(), phone });

describe('200', () => {
  it('returns the links of the person with the phone of the token, over all sellers and none of a relative with the phone, with ids that tell nothing', async () => {
    const person = newPerson();
    const books = await linkPerson(table, 'sel_books', person);
    await linkPerson(table, 'sel_shoes', { ...person, display_name: 'Sara R.' });
    await linkPerson(table, 'sel_shoes', withPhone(person.phone));
    const { status, json } = await buyerAppOn(table).find(person);
    expect(status).toBe(200);
    expect(json.data).toEqual([
      {
        id: expect.stringMatching(/^lnk_[\w-]{22}$/),
        seller: { id: 'sel_books', name: 'Kaveh Books' },
        display_name: books.display_name,
        linked_at: books.created_at,
      },
      expect.objectContaining({ seller: { id: 'sel_shoes', name: 'Parvin Shoes' }, display_name: 'Sara R.' }),
    ]);
    expect(JSON.stringify(json)).not.toContain('usr_');
  });

  it('returns the oldest link first, whatever the ids of the sellers are', async () => {
    const person = await newBuyerIn(table);
    const { call, clock } = createUserUnderTest(table);
    for (const sellerId of ['sel_shoes', 'sel_books']) {
      expect((await call({ body: person, authorizer: { ...newKey(), sellerId } })).status).toBe(201);
      clock.advance(60);
    }
    const { json } = await buyerAppOn(table).find(person);
    const sellers = json.data.map(({ seller }: { seller: { id: string } }) => seller.id);
    expect(sellers).toEqual(['sel_shoes', 'sel_books']);
  });

  it('keeps the id of a link that the seller removed and made again', async () => {
    const person = newPerson();
    const app = buyerAppOn(table);
    const first = await linkPerson(table, 'sel_books', person);
    const [before] = (await app.find(person)).json.data;
    await userStore(table).removeUser('sel_books', first.id, {
      removedAt: '2026-11-21T07:30:00.000Z',
      reason: 'seller',
    });
    await linkPerson(table, 'sel_books', person);
    expect((await app.find(person)).json.data).toMatchObject([{ id: before.id }]);
  });

  it('is the same empty list for the new owner of a number, a relative with the same phone and a stranger', async () => {
    const person = newPerson();
    await linkPerson(table, 'sel_books', person);
    const { find } = buyerAppOn(table);
    const stranger = newPerson();
    const replies = [
      await find(withPhone(person.phone)),
      await find(stranger),
      await find(person, stranger.phone),
    ];
    expect(replies.map(({ status, json }) => [status, json])).toEqual(replies.map(() => [200, { data: [] }]));
  });

  it('takes the same calls for a phone with links of somebody else as for one without', async () => {
    const person = newPerson();
    await linkPerson(table, 'sel_books', person);
    const calls = [];
    for (const phone of [person.phone, newPerson().phone]) {
      const counted = countedTable(table);
      await buyerAppOn(counted.table).find(withPhone(phone));
      calls.push(counted.rounds);
    }
    expect(calls[0]).toEqual(calls[1]);
  });

  it('leaves out ended links, also those of two persons with one phone and one seller', async () => {
    const person = newPerson();
    const app = buyerAppOn(table);
    for (const ended of [person, withPhone(person.phone)]) {
      await linkPerson(table, 'sel_books', ended);
      await app.end(person.phone, (await app.find(ended)).json.data[0].id);
    }
    await linkPerson(table, 'sel_shoes', person);
    const { status, json } = await app.find(person);
    expect([status, json.data]).toMatchObject([200, [{ seller: { id: 'sel_shoes' } }]]);
  });

  it('is an empty list for another birth date', async () => {
    const person = newPerson();
    await linkPerson(table, 'sel_books', person);
    const { call } = buyerAppOn(table);
    const { json } = await call['find-links']({
      headers: { Authorization: `Bearer ${await signer.sign(claimsOf(person.phone))}` },
      body: { national_id: person.national_id, birth_date: '1370/1/16' },
    });
    expect(json).toEqual({ data: [] });
  });
});

describe('429', () => {
  it('comes after twenty searches of a phone that matched nobody, for the right person too, until midnight UTC', async () => {
    const person = newPerson();
    await linkPerson(table, 'sel_books', person);
    const app = buyerAppOn(table);
    app.clock.set('2026-11-21T23:30:00Z');
    const search = async (claim: ReturnType<typeof newPerson>) =>
      app.call['find-links']({
        headers: {
          Authorization: `Bearer ${await signer.sign(claimsOf(person.phone, 'sel_test', app.clock() / 1000))}`,
        },
        body: { national_id: claim.national_id, birth_date: '1370/1/15' },
      });
    for (let count = 0; count < 20; count += 1)
      expect((await search(withPhone(person.phone))).json).toEqual({ data: [] });
    app.clock.advance(60);
    for (const claim of [withPhone(person.phone), person]) {
      const { status, json, headers } = await search(claim);
      expect([status, json.code, headers['Retry-After']]).toEqual([429, 'too_many_attempts', '1740']);
    }
    app.clock.advance(1740);
    expect((await search(person)).json.data).toHaveLength(1);
  });

  it('is not caused by searches whose links cannot be read', async () => {
    const person = newPerson();
    await linkPerson(table, 'sel_books', person);
    let isThrottled = true;
    const throttling = Object.assign(new Error('throttled'), { name: 'ThrottlingException' });
    const app = buyerAppOn(
      interceptedTable(table, async ({ name }, send) => {
        if (name === 'QueryCommand' && isThrottled) throw throttling;
        return send();
      }),
    );
    for (let visit = 1; visit <= 20; visit += 1) expect((await app.find(person)).status).toBe(503);
    isThrottled = false;
    expect((await app.find(person)).json.data).toHaveLength(1);
  });

  it('is never caused by searches that match', async () => {
    const app = buyerAppOn(table);
    const person = newPerson();
    await linkPerson(table, 'sel_books', person);
    for (let visit = 1; visit <= 21; visit += 1) expect((await app.find(person)).json.data).toHaveLength(1);
  });

  it('comes before anything is compared: of many searches at once, of which a late one is the right one, 20 are answered', async () => {
    const searches = isFullRun ? 60 : 30;
    const person = newPerson();
    await linkPerson(table, 'sel_books', person);
    const app = buyerAppOn(table);
    const claims = Array.from({ length: searches }, (_, index) =>
      index === searches - 6 ? person : withPhone(person.phone),
    );
    const replies = await Promise.all(claims.map((claim) => app.find(claim)));
    expect(replies.filter(({ status }) => status === 429).length).toBeGreaterThanOrEqual(searches - 21);
    expect(replies.filter(({ json }) => json.data?.length === 0).length).toBeLessThanOrEqual(20);
  });
});
