import { TransactionConflictException } from '@aws-sdk/client-dynamodb';
import { GetCommand, PutCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import type { Table } from '#shared/table/client.ts';
import { personCheckKey } from '#shared/table/keys.ts';
import { type PersonCheckStore, personCheckStore } from '#shared/users/person-check-store.ts';
import { type CheckRecord, NO_CHECKS, withEnd, withLease } from '#shared/users/person-checks.ts';
import { type EmbeddedTable, startEmbeddedTable } from '#test/table/embedded-table.ts';

let table: EmbeddedTable;
let store: PersonCheckStore;
beforeAll(async () => {
  table = await startEmbeddedTable();
  store = personCheckStore(table);
});
afterAll(() => table.stop());

const START_MS = Date.parse('2026-11-21T08:00:00Z');

let people = 0;
const newPerson = () => {
  people += 1;
  return { sellerId: 'sel_test', personHash: `hash ${people}` };
};

const leased = withLease(NO_CHECKS, 'mine', START_MS);
const refused = withEnd(
  leased,
  {
    leaseId: 'mine',
    dataHash: 'data',
    result: { code: 'verification_unavailable', retry_after: 17 },
  },
  START_MS + 1000,
) as CheckRecord;

describe('read', () => {
  it('returns an empty record for a person that was never checked', async () => {
    expect(await store.read(newPerson())).toEqual(NO_CHECKS);
  });

  it.each([
    ['a lease', [leased]],
    ['the end of a check', [leased, refused]],
    ['a lease after the end of a check', [leased, refused, withLease(refused, 'other', START_MS)]],
  ])('returns %s as it was written', async (_what, records) => {
    const person = newPerson();
    for (const record of records) await store.replace(person, record, START_MS);
    expect(await store.read(person)).toEqual(records.at(-1));
  });
});

describe('replace', () => {
  it('is written once of twenty writes that read the same version, and all return that one', async () => {
    const person = newPerson();
    const ids = Array.from({ length: 20 }, (_, index) => `lease ${index}`);
    const results = await Promise.all(
      ids.map((id) => store.replace(person, withLease(NO_CHECKS, id, START_MS), START_MS)),
    );
    const stored = await store.read(person);
    expect(results).toEqual(Array(20).fill(stored));
    expect(ids).toContain(stored.lease_id);
  });

  it('is not written over a version that was not read', async () => {
    const person = newPerson();
    for (const record of [leased, refused]) await store.replace(person, record, START_MS);
    const late = withLease(leased, 'late', START_MS);
    expect(await store.replace(person, late, START_MS)).toEqual(refused);
  });

  it('returns the own record when the response of a first attempt was lost', async () => {
    const person = newPerson();
    await store.replace(person, leased, START_MS);
    expect(await store.replace(person, leased, START_MS)).toEqual(leased);
  });

  it('returns an empty record when the item has expired since it was read', async () => {
    expect(await store.replace(newPerson(), refused, START_MS)).toEqual(NO_CHECKS);
  });

  it('returns the record when a transaction holds the item', async () => {
    const person = newPerson();
    await store.replace(person, leased, START_MS);
    const send = (command: object) =>
      command instanceof PutCommand
        ? Promise.reject(new TransactionConflictException({ message: 'conflict', $metadata: {} }))
        : table.client.send(command as GetCommand);
    const contended = personCheckStore({ name: table.name, client: { send } } as unknown as Table);
    expect(await contended.replace(person, refused, START_MS)).toEqual(leased);
  });

  it('throws every other error', async () => {
    const send = () => Promise.reject(new Error('the table cannot be reached'));
    const broken = personCheckStore({ name: 'test', client: { send } } as unknown as Table);
    await expect(broken.replace(newPerson(), leased, START_MS)).rejects.toThrow(
      'the table cannot be reached',
    );
  });
});

describe('replacement', () => {
  it('writes the record as part of a transaction, without a condition on the item', async () => {
    const person = newPerson();
    await store.replace(person, withLease(NO_CHECKS, 'other', START_MS), START_MS);
    const TransactItems = [store.replacement(person, refused, START_MS)];
    await table.client.send(new TransactWriteCommand({ TransactItems }));
    expect(await store.read(person)).toEqual(refused);
  });
});

describe('the item of the person checks', () => {
  it('stores an expiry after the last time that the record can be needed', async () => {
    const person = newPerson();
    await store.replace(person, leased, START_MS + 500);
    const Key = personCheckKey(person.sellerId, person.personHash);
    const { Item } = await table.client.send(new GetCommand({ TableName: table.name, Key }));
    expect(Item?.ttl).toBe(START_MS / 1000 + 1 + 86_400 + 25);
  });
});
