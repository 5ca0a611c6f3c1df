import { useReader } from '#shared/rate-limits/use-history.ts';
import type { Table } from '#shared/table/client.ts';
import { newPerson } from '#test/generated-people.ts';
import { interceptedTable } from '#test/table/intercepted-table.ts';
import { useTable } from '#test/table/use-table.ts';
import { addSellers, createUserUnderTest, newBuyerIn, newKey } from './create-user-under-test.ts';
import type { Reply } from './harness.ts';

const table = useTable();
beforeAll(async () => {
  await addSellers(table, 'sel_test');
});

const codesOf = (replies: readonly Reply[]) => replies.map(({ status, json }) => json.code ?? status).sort();
const times = (count: number) => Array.from({ length: count });

/** A table in which each of `count` links at once reads before the first one goes on. */
const readTogether = (count: number): Table => {
  const allRead = Promise.withResolvers<void>();
  let reads = 0;
  return interceptedTable(table, async ({ name }, send) => {
    const result = await send();
    if (name !== 'BatchGetCommand' || reads === count) return result;
    reads += 1;
    if (reads === count) allRead.resolve();
    await allRead.promise;
    return result;
  });
};

describe('failed-checks-per-hour', () => {
  it('allows the failed checks of a clock hour; the next request is refused before it costs anything', async () => {
    const { registry, paid, link, clock } = createUserUnderTest(table);
    const key = { ...newKey(), limits: JSON.stringify({ 'failed-checks-per-hour': 2 }) };
    registry.identity = 'not_found';
    for (const _ of times(2)) expect((await link(key)).json.code).toBe('identity_mismatch');
    clock.advance(61);
    const { status, json, headers } = await link(key);
    expect([status, json.code, headers['Retry-After']]).toEqual([429, 'rate_limit_exceeded', '3539']);
    expect(headers['RateLimit-Policy']).toBe('"free";q=100;w=60, "failed-checks-per-hour";q=2;w=3600');
    expect(headers.RateLimit).toBe('"free";r=99;t=59, "failed-checks-per-hour";r=0;t=3539');
    expect(paid.identity).toBe(2);
    clock.advance(3539);
    expect((await link(key)).json.code).toBe('identity_mismatch');
  });

  it('refuses none of twelve valid links at the same moment', async () => {
    const { link } = createUserUnderTest(table);
    const key = newKey();
    const replies = await Promise.all(times(12).map(() => link(key)));
    expect(new Set(codesOf(replies))).toEqual(new Set([201]));
  });

  it('returns ten verdicts, however many people are checked at the same moment', async () => {
    const { registry, link } = createUserUnderTest(table);
    registry.ownership = 'not_matched';
    const key = newKey();
    const replies = await Promise.all(times(15).map(() => link(key)));
    expect(codesOf(replies)).toEqual([
      ...Array(10).fill('phone_not_owned'),
      ...Array(5).fill('rate_limit_exceeded'),
    ]);
  });
});

describe('refused-links-per-hour', () => {
  /** A free key with two refused links in an hour. */
  const limitedKey = () => ({ ...newKey(), limits: JSON.stringify({ 'refused-links-per-hour': 2 }) });

  it('counts user_conflict too: of 19 wrong links at once two are answered, and the right one beside them, but none that comes later', async () => {
    const key = limitedKey();
    const linked = await newBuyerIn(table);
    await createUserUnderTest(table).call({ body: linked });
    const { call } = createUserUnderTest(readTogether(20));
    const wrong = times(19).map((_, index) => ({ ...linked, birth_date: `1370/2/${index + 1}` }));
    const burst = [...wrong, linked].map((body) => call({ body, authorizer: key }));
    const replies = await Promise.all(burst);
    expect(replies.at(-1)?.status).toBe(200);
    expect(codesOf(replies.slice(0, -1))).toEqual([
      ...Array(17).fill('rate_limit_exceeded'),
      ...Array(2).fill('user_conflict'),
    ]);
    expect((await call({ body: linked, authorizer: key })).json.code).toBe('rate_limit_exceeded');
  });

  it('when used up, returns one and the same response to every link, without a paid check', async () => {
    const { call, paid } = createUserUnderTest(table);
    const key = limitedKey();
    const [linked, buyer] = [await newBuyerIn(table), await newBuyerIn(table)];
    await call({ body: linked });
    for (const _ of times(2)) await call({ body: newPerson(), authorizer: key });
    const bodies = [newPerson(), buyer, linked, { ...linked, birth_date: '1370/1/16' }];
    const replies = await Promise.all(bodies.map((body) => call({ body, authorizer: key })));
    expect(replies.map(({ status, headers }) => [status, headers['Retry-After']])).toEqual(
      Array(4).fill([429, '3600']),
    );
    expect(new Set(replies.map(({ json }) => JSON.stringify(json)))).toEqual(
      new Set([JSON.stringify({ ...replies[0]?.json, code: 'rate_limit_exceeded' })]),
    );
    expect(paid.identity).toBe(1);
  });

  it('does not count a link, a repeated link and a failed check', async () => {
    const { call, link, registry } = createUserUnderTest(table);
    const key = limitedKey();
    const person = await newBuyerIn(table);
    for (const _ of times(3)) await call({ body: person, authorizer: key });
    registry.identity = 'not_found';
    for (const _ of times(3)) await link(key);
    registry.identity = 'matched';
    expect((await link(key)).status).toBe(201);
  });
});

describe('paid-checks-per-day', () => {
  it('allows as many of nine links at the same moment as are left, and counts the others as no refused links', async () => {
    const { call } = createUserUnderTest(readTogether(9));
    const key = { ...newKey(), limits: JSON.stringify({ 'paid-checks-per-day': 2 }) };
    const people = await Promise.all(times(9).map(() => newBuyerIn(table)));
    const replies = await Promise.all(
      people.map((body) => call({ body, authorizer: key, timeLeftMs: 60_000 })),
    );
    const limitOf = ({ status, headers }: Reply) => headers['RateLimit-Policy']?.split('"')[3] ?? status;
    expect(replies.map(limitOf).sort()).toEqual([201, 201, ...Array(7).fill('paid-checks-per-day')]);
    const [{ refused_links } = { refused_links: undefined }] = (
      await useReader(table)(key.keyId, 1, Date.parse('2026-11-21T08:00:00Z'))
    ).data;
    expect(refused_links).toBe(0);
  });

  it('refuses the next link of the key until midnight UTC', async () => {
    const { link, clock, paid } = createUserUnderTest(table);
    const key = { ...newKey('professional'), limits: JSON.stringify({ 'paid-checks-per-day': 2 }) };
    expect([(await link(key)).status, (await link(key)).status]).toEqual([201, 201]);
    const { json, headers } = await link(key);
    expect([json.code, headers['Retry-After']]).toEqual(['rate_limit_exceeded', String(16 * 3600)]);
    expect(headers.RateLimit).toBe('"professional";r=997;t=60, "paid-checks-per-day";r=0;t=57600');
    expect(paid.identity).toBe(2);
    clock.advance(16 * 3600);
    expect((await link(key)).status).toBe(201);
  });

  /** Links with the right data, another birth date, an unknown phone and a new buyer. */
  const linksOfAll = async (linked: Awaited<ReturnType<typeof newBuyerIn>>) => [
    linked,
    { ...linked, birth_date: '1370/1/16' },
    newPerson(),
    await newBuyerIn(table),
  ];

  it("when the seller's share of the stage's ceiling is used up, is verification_unavailable for every link of all its keys", async () => {
    const { call, paid, clock } = createUserUnderTest(table, { paidChecksPerDay: 4 });
    clock.set('2026-11-24T08:00:00Z');
    const key = () => ({ ...newKey(), scopes: 'users:write' });
    const linked = await newBuyerIn(table);
    expect((await call({ body: linked, authorizer: key() })).status).toBe(201);
    for (const body of await linksOfAll(linked)) {
      const { json, headers } = await call({ body, authorizer: key() });
      expect([json.code, headers['Retry-After']]).toEqual(['verification_unavailable', String(16 * 3600)]);
    }
    expect(paid.identity).toBe(1);
  });
});
