import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { personCheckKey } from '#shared/table/keys.ts';
import { checkRecordFrom, withLease } from '#shared/users/person-check.ts';
import { unavailableBecause } from '#test/fakes/unavailable.ts';
import { useTable } from '#test/table/use-table.ts';
import { testHashes } from './create-user-deps.ts';
import {
  addSellers,
  createUserUnderTest,
  newBuyerIn,
  newKey,
  type RegistryResults,
} from './create-user-under-test.ts';
import type { Reply } from './harness.ts';

const table = useTable();
beforeAll(async () => {
  await addSellers(table, 'sel_test');
});

const createUser = (registry: RegistryResults = {}) => createUserUnderTest(table, { registry });
const newBuyer = () => newBuyerIn(table);
const codesOf = (replies: readonly Reply[]) => replies.map(({ status, json }) => json.code ?? status).sort();

/** A deadline that no wait of these tests reaches, also on a busy machine. */
const PATIENT = { timeLeftMs: 60_000 };

describe('twenty identical requests at once', () => {
  it('get one 201 and nineteen 200 with the same user, at the cost of one check of each kind', async () => {
    const person = await newBuyer();
    const { call, paid } = createUser();
    const replies = await Promise.all(Array.from({ length: 20 }, () => call({ body: person, ...PATIENT })));
    expect(codesOf(replies)).toEqual([...Array(19).fill(200), 201]);
    expect(new Set(replies.map((reply) => JSON.stringify(reply.json))).size).toBe(1);
    expect(paid).toEqual({ identity: 1, ownership: 1 });
  });

  it('get five refusals of their own and fifteen too_many_attempts when the registry refuses the person', async () => {
    const person = await newBuyer();
    const { call, paid } = createUser({ ownership: 'not_matched' });
    const replies = await Promise.all(Array.from({ length: 20 }, () => call({ body: person, ...PATIENT })));
    expect(codesOf(replies)).toEqual([
      ...Array(5).fill('phone_not_owned'),
      ...Array(15).fill('too_many_attempts'),
    ]);
    expect(paid).toEqual({ identity: 5, ownership: 5 });
  });

  it('make a check of their own, none of which counts as failed, while the registry has no verdict', async () => {
    const person = await newBuyer();
    const { call, paid } = createUser({ identity: unavailableBecause('upstream') });
    const replies = await Promise.all(Array.from({ length: 20 }, () => call({ body: person, ...PATIENT })));
    expect(codesOf(replies)).toEqual(Array(20).fill('verification_unavailable'));
    expect(paid.identity).toBe(20);
  });
});

describe('two requests at once for one person with two birth dates', () => {
  it('returns 409 to the second when the first one links the person', async () => {
    const person = await newBuyer();
    const begun = Promise.withResolvers<void>();
    const checked = Promise.withResolvers<void>();
    const wait = () => {
      begun.resolve();
      return checked.promise;
    };
    const { call, paid } = createUser({ wait });
    const first = call({ body: person });
    await begun.promise;
    const second = call({ body: { ...person, birth_date: '1370/1/16' } });
    checked.resolve();
    expect((await first).status).toBe(201);
    expect((await second).json.code).toBe('user_conflict');
    expect(paid).toEqual({ identity: 1, ownership: 1 });
  });

  it('makes a check of its own for the second when the first one is refused', async () => {
    const person = await newBuyer();
    const registry: RegistryResults = { identity: 'not_found' };
    const { call, paid } = createUser(registry);
    const begun = Promise.withResolvers<void>();
    const checked = Promise.withResolvers<void>();
    registry.wait = () => {
      begun.resolve();
      return checked.promise;
    };
    const wrong = call({ body: { ...person, birth_date: '1370/1/16' } });
    await begun.promise;
    registry.identity = 'matched';
    const right = call({ body: person });
    checked.resolve();
    expect((await wrong).json.code).toBe('identity_mismatch');
    expect((await right).status).toBe(201);
    expect(paid).toEqual({ identity: 2, ownership: 2 });
  });
});

/** The nth of the days that are guessed. None of them is the birth date of the person. */
const guess = (index: number) => `${1300 + Math.floor(index / 28)}/1/${1 + (index % 28)}`;

describe('guesses of a birth date', () => {
  it('cost five checks for 50 birth dates at once; the other requests get too_many_attempts', async () => {
    const person = await newBuyer();
    const { call, paid } = createUser({ identity: 'not_found' });
    const replies = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        call({ body: { ...person, birth_date: guess(index) }, authorizer: newKey(), ...PATIENT }),
      ),
    );
    expect(codesOf(replies)).toEqual([
      ...Array(5).fill('identity_mismatch'),
      ...Array(45).fill('too_many_attempts'),
    ]);
    expect(paid.identity).toBe(5);
  });

  it('among right requests stop no right one: one 201, fifteen 200, and a check of each guess until the link', async () => {
    const person = await newBuyer();
    const { call, paid } = createUser({ identity: ({ month }) => (month === 1 ? 'matched' : 'not_found') });
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, index) => {
        const birth_date = index % 5 === 0 ? `1370/2/${index + 1}` : person.birth_date;
        return call({ body: { ...person, birth_date }, ...PATIENT });
      }),
    );
    const codes = codesOf(replies);
    const count = (wanted: number | string) => codes.filter((code) => code === wanted).length;
    expect([count(201), count(200), count('identity_mismatch') + count('user_conflict')]).toEqual([1, 15, 4]);
    expect(paid.identity).toBe(1 + count('identity_mismatch'));
  });
});

describe('a request for a person whose check another request began and never ended', () => {
  const takeLease = async (nationalId: string, nowMs: number) => {
    const { current: personHash } = await testHashes.person('sel_test', nationalId);
    const Item = {
      ...personCheckKey('sel_test', personHash),
      ...withLease(checkRecordFrom(undefined), 'crashed', nowMs),
    };
    await table.client.send(new PutCommand({ TableName: table.name, Item }));
  };

  it('is verification_unavailable with the rest of the lease as Retry-After when the deadline comes', async () => {
    const person = await newBuyer();
    const { call, clock, paid } = createUser();
    await takeLease(person.national_id, clock());
    clock.advance(8);
    const { status, json, headers } = await call({ body: person, timeLeftMs: 6000 });
    expect([status, json.code, headers['Retry-After']]).toEqual([503, 'verification_unavailable', '17']);
    expect(paid).toEqual({ identity: 0, ownership: 0 });
  });

  it('is linked when the lease has expired', async () => {
    const person = await newBuyer();
    const { call, clock } = createUser();
    await takeLease(person.national_id, clock());
    clock.advance(25);
    expect((await call({ body: person })).status).toBe(201);
  });
});
