import { personCheckStore } from '#shared/users/person-check-store.ts';
import { NO_CHECKS, withLease } from '#shared/users/person-checks.ts';
import { type EmbeddedTable, startEmbeddedTable } from '#test/table/embedded-table.ts';
import {
  addSellers,
  createUserBench,
  newBuyerIn,
  newKey,
  type RegistryResults,
} from './create-user-bench.ts';
import { testHashes } from './create-user-deps.ts';

let table: EmbeddedTable;
beforeAll(async () => {
  table = await startEmbeddedTable();
  await addSellers(table, 'sel_test');
});
afterAll(() => table.stop());

const createUser = (registry: RegistryResults = {}) => createUserBench(table, { registry });
const newBuyer = () => newBuyerIn(table);

describe('twenty identical requests at once', () => {
  it('get one 201 and nineteen 200 with the same user, at the cost of one check of each kind', async () => {
    const person = await newBuyer();
    const { call, paid } = createUser();
    const replies = await Promise.all(Array.from({ length: 20 }, () => call({ body: person })));
    expect(replies.map((reply) => reply.status).sort()).toEqual([...Array(19).fill(200), 201]);
    expect(new Set(replies.map((reply) => JSON.stringify(reply.json))).size).toBe(1);
    expect(paid).toEqual({ identity: 1, ownership: 1 });
  });

  it('get the same refusal, at the cost of one check of each kind', async () => {
    const person = await newBuyer();
    const { call, paid } = createUser({ ownership: 'not_matched' });
    const replies = await Promise.all(Array.from({ length: 20 }, () => call({ body: person })));
    expect(replies.map(({ json }) => json.code)).toEqual(Array(20).fill('phone_not_owned'));
    expect(paid).toEqual({ identity: 1, ownership: 1 });
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

describe('a request that reaches its function after the check of an identical one has ended', () => {
  it('gets the same refusal without a check if the gateway had received it before that end', async () => {
    const person = await newBuyer();
    const { call, paid, clock } = createUser({ identity: 'not_found' });
    const receivedAtMs = clock() - 1000;
    expect((await call({ body: person })).json.code).toBe('identity_mismatch');
    clock.advance(2);
    expect((await call({ body: person, receivedAtMs })).json.code).toBe('identity_mismatch');
    expect(paid.identity).toBe(1);
  });

  it('makes a check of its own if the gateway received it later', async () => {
    const person = await newBuyer();
    const { call, paid, clock } = createUser({ identity: 'not_found' });
    expect((await call({ body: person })).json.code).toBe('identity_mismatch');
    clock.advance(2);
    expect((await call({ body: person, receivedAtMs: clock() })).json.code).toBe('identity_mismatch');
    expect(paid.identity).toBe(2);
  });

  it('does not trust a time of the gateway that lies ahead or too far back', async () => {
    const person = await newBuyer();
    const { call, paid, clock } = createUser({ identity: 'not_found' });
    await call({ body: person });
    clock.advance(60);
    await call({ body: person, receivedAtMs: clock() - 59_000 });
    await call({ body: person, receivedAtMs: clock() + 3_600_000 });
    expect(paid.identity).toBe(3);
  });
});

describe('guesses of a birth date', () => {
  it('cost five checks for 50 birth dates at once; the other requests get too_many_attempts', async () => {
    const person = await newBuyer();
    const { call, paid } = createUserBench(table, {
      registry: { identity: 'not_found' },
    });
    const replies = await Promise.all(
      Array.from({ length: 50 }, (_, index) => {
        const birth_date = `${1300 + Math.floor(index / 28)}/1/${1 + (index % 28)}`;
        return call({
          body: { ...person, birth_date },
          authorizer: newKey('professional'),
          timeLeftMs: 60_000,
        });
      }),
    );
    const codes = replies.map(({ json }) => json.code);
    expect(paid.identity).toBe(5);
    expect(codes.filter((code) => code === 'identity_mismatch')).toHaveLength(5);
    expect(codes.filter((code) => code === 'too_many_attempts')).toHaveLength(45);
  }, 60_000);
});

describe('a request for a person whose check another request began and never ended', () => {
  it('is verification_unavailable with the rest of the lease as Retry-After when the deadline comes', async () => {
    const person = await newBuyer();
    const [personHash] = await testHashes.person('sel_test', person.national_id);
    const { call, clock, paid } = createUser();
    const lease = withLease(NO_CHECKS, 'other', clock());
    await personCheckStore(table).replace({ sellerId: 'sel_test', personHash }, lease, clock());
    clock.advance(8);
    const { status, json, headers } = await call({ body: person, timeLeftMs: 6000 });
    expect([status, json.code, headers['Retry-After']]).toEqual([503, 'verification_unavailable', '17']);
    expect(paid).toEqual({ identity: 0, ownership: 0 });
  });

  it('is linked when the lease has expired', async () => {
    const person = await newBuyer();
    const [personHash] = await testHashes.person('sel_test', person.national_id);
    const { call, clock } = createUser();
    const lease = withLease(NO_CHECKS, 'crashed', clock());
    await personCheckStore(table).replace({ sellerId: 'sel_test', personHash }, lease, clock());
    clock.advance(25);
    expect((await call({ body: person })).status).toBe(201);
  });
});
