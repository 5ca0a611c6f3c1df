import { PutCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import { type CreateUserDeps, handle } from '#functions/create-user.ts';
import { buyerStore } from '#shared/buyers/store.ts';
import type { IdentityVerdict, OwnershipVerdict } from '#shared/identity-registry/port.ts';
import { ProviderUnavailable } from '#shared/providers/unavailable.ts';
import { routes } from '#shared/routes.ts';
import { keyedHashesFrom } from '#shared/secrets/keyed-hashes.ts';
import { sellerKey } from '#shared/table/keys.ts';
import { userStore } from '#shared/users/store.ts';
import { countingIds } from '#test/fakes/ids.ts';
import { fixedSecret } from '#test/fakes/secret.ts';
import { type EmbeddedTable, startEmbeddedTable } from '#test/table/embedded-table.ts';
import { callerContext, functionUnderTest } from './harness.ts';
import { newPerson } from './people.ts';

let table: EmbeddedTable;

beforeAll(async () => {
  table = await startEmbeddedTable();
  for (const sellerId of ['sel_test', 'sel_other']) {
    const Item = { ...sellerKey(sellerId), user_count: 0 };
    await table.client.send(new PutCommand({ TableName: table.name, Item }));
  }
});
afterAll(() => table.stop());

const hashes = keyedHashesFrom(fixedSecret(JSON.stringify({ current: 'k'.repeat(40) })));

/** The function with a registry that gives these verdicts, and counts how often it was asked. */
const createUser = (
  verdicts: { identity?: IdentityVerdict | Error; ownership?: OwnershipVerdict | Error } = {},
) => {
  const asked = { identity: 0, ownership: 0 };
  const give = <T>(verdict: T | Error): Promise<T> =>
    verdict instanceof Error ? Promise.reject(verdict) : Promise.resolve(verdict);
  const own = {
    users: userStore(table),
    buyers: buyerStore(table),
    hashes,
    ids: countingIds(),
    identityRegistry: {
      checkIdentity: () => {
        asked.identity += 1;
        return give(verdicts.identity ?? 'matched');
      },
      checkPhoneOwnership: () => {
        asked.ownership += 1;
        return give(verdicts.ownership ?? 'matched');
      },
    },
  };
  return {
    asked,
    ...functionUnderTest<(typeof routes)['create-user'], CreateUserDeps>(
      routes['create-user'],
      handle,
      table,
      own,
    ),
  };
};

/** A person whose phone is registered in the buyer app. */
const newBuyer = async () => {
  const person = newPerson();
  const [hash] = await hashes.phone(person.phone);
  await buyerStore(table).register(hash, await hashes.buyerId(person.phone), '2026-01-01T00:00:00.000Z');
  return person;
};

const unavailable = new ProviderUnavailable({
  provider: 'test',
  operation: 'identity',
  reason: 'quota',
  refused: true,
  retryAfterSeconds: 17,
});

const listAll = async (sellerId: string) => (await userStore(table).listPage(sellerId, 1, 100)).users;

describe('201', () => {
  it('answers the new user, its national id masked, its phone in E.164 and its birth date un-padded', async () => {
    const person = await newBuyer();
    const sent = {
      ...person,
      phone: `0${person.phone.slice(3)}`,
      birth_date: '1370/01/05',
      display_name: '  Sara  ',
    };
    const { status, json } = await createUser().call({ body: sent });
    expect(status).toBe(201);
    expect(json).toEqual({
      id: expect.stringMatching(/^usr_.{22}$/),
      national_id: `******${person.national_id.slice(-4)}`,
      birth_date: '1370/1/5',
      phone: person.phone,
      display_name: 'Sara',
      created_at: '2026-11-21T08:00:00.000Z',
    });
  });

  it('lists the user the moment it is answered', async () => {
    const person = await newBuyer();
    const { json } = await createUser().call({ body: person });
    expect((await listAll('sel_test')).at(-1)?.id).toBe(json.id);
  });

  it('lets another seller link the same person', async () => {
    const person = await newBuyer();
    await createUser().call({ body: person });
    const authorizer = { ...callerContext, sellerId: 'sel_other', keyId: 'key_other' };
    const { status } = await createUser().call({ body: person, authorizer });
    expect(status).toBe(201);
  });

  it('is one of twenty that ask at once for the same person; the rest are 200 with the same user', async () => {
    const person = await newBuyer();
    const { call } = createUser();
    const replies = await Promise.all(Array.from({ length: 20 }, () => call({ body: person })));
    expect(replies.map((reply) => reply.status).sort()).toEqual([...Array(19).fill(200), 201]);
    expect(new Set(replies.map((reply) => JSON.stringify(reply.json))).size).toBe(1);
  });
});

describe('200', () => {
  it('answers the existing user when the same link is asked for again, and asks no registry', async () => {
    const person = await newBuyer();
    const first = await createUser().call({ body: person });
    const { asked, call } = createUser();
    const again = await call({ body: { ...person, birth_date: '1370/01/15', display_name: 'Another name' } });
    expect(again.status).toBe(200);
    expect(again.json).toEqual(first.json);
    expect(asked).toEqual({ identity: 0, ownership: 0 });
  });

  it('knows the same day in the other calendar', async () => {
    const person = await newBuyer();
    await createUser().call({ body: person });
    const again = await createUser().call({ body: { ...person, birth_date: '1991/4/4' } });
    expect(again.status).toBe(200);
    expect(again.json.birth_date).toBe('1370/1/15');
  });
});

describe('404', () => {
  it('is buyer_not_registered for a phone that the buyer app does not know, and asks no registry', async () => {
    const { asked, call } = createUser();
    const { status, json } = await call({ body: newPerson() });
    expect([status, json.code]).toEqual([404, 'buyer_not_registered']);
    expect(asked).toEqual({ identity: 0, ownership: 0 });
  });
});

describe('409', () => {
  it.each([
    ['another phone', async () => ({ phone: (await newBuyer()).phone })],
    ['another birth date', async () => ({ birth_date: '1370/1/16' })],
  ])('is user_conflict for a linked person with %s, and asks no registry', async (_what, change) => {
    const person = await newBuyer();
    await createUser().call({ body: person });
    const { asked, call } = createUser();
    const { status, json } = await call({ body: { ...person, ...(await change()) } });
    expect([status, json.code]).toEqual([409, 'user_conflict']);
    expect(asked).toEqual({ identity: 0, ownership: 0 });
  });
});

describe('422', () => {
  it.each([
    ['identity_mismatch', { identity: 'not_found' as const }],
    ['identity_mismatch', { identity: 'deceased' as const }],
    ['phone_not_owned', { ownership: 'not_matched' as const }],
  ])('is %s when the registry says %j, and nothing is stored', async (code, verdicts) => {
    const before = await table.client.send(new ScanCommand({ TableName: table.name }));
    const person = await newBuyer();
    const { status, json } = await createUser(verdicts).call({ body: person });
    expect([status, json.code]).toEqual([422, code]);
    const users = await listAll('sel_test');
    expect(users.map((user) => user.phone)).not.toContain(person.phone);
    const after = await table.client.send(new ScanCommand({ TableName: table.name }));
    expect(after.Items?.filter((item) => String(item.pk).startsWith('PERSON#'))).toHaveLength(
      before.Items?.filter((item) => String(item.pk).startsWith('PERSON#')).length ?? -1,
    );
  });

  it('names every field that is missing, unknown or wrong, all at once', async () => {
    const body = {
      national_id: '1234567890',
      birth_date: '1404/12/30',
      nationl_id: 1,
      __proto: 1,
      toString: 1,
    };
    const { status, json } = await createUser().call({ body });
    expect([status, json.code]).toEqual([422, 'validation_failed']);
    expect(json.errors.map((error: { pointer: string }) => error.pointer)).toEqual([
      '#/national_id',
      '#/birth_date',
      '#/phone',
      '#/display_name',
      '#/nationl_id',
      '#/__proto',
      '#/toString',
    ]);
  });
});

describe('503', () => {
  it.each([
    ['identity', { identity: unavailable }],
    ['ownership', { ownership: unavailable }],
  ])(
    'is verification_unavailable with Retry-After when the %s check has no answer; the next try works',
    async (_which, verdicts) => {
      const person = await newBuyer();
      const { status, headers, json } = await createUser(verdicts).call({ body: person });
      expect([status, json.code, headers['Retry-After']]).toEqual([503, 'verification_unavailable', '17']);
      expect((await createUser().call({ body: person })).status).toBe(201);
    },
  );
});

describe('500', () => {
  it('is internal with a fixed text when a registry breaks; the caller learns nothing of it', async () => {
    const person = await newBuyer();
    const { call, lines } = createUser({ identity: new Error(`secret of ${person.national_id}`) });
    const { status, json } = await call({ body: person });
    expect([status, json.code]).toEqual([500, 'internal']);
    expect(JSON.stringify(json)).not.toContain('secret');
    expect(lines.join()).not.toContain(person.national_id);
    expect(lines.join()).toContain('secret of [redacted]');
  });
});

describe('what is stored and logged', () => {
  it('holds no national id anywhere, and no phone in a key', async () => {
    const person = await newBuyer();
    const { call, lines } = createUser();
    await call({ body: person });
    const { Items } = await table.client.send(new ScanCommand({ TableName: table.name }));
    expect(JSON.stringify(Items)).not.toContain(person.national_id);
    expect(JSON.stringify(Items?.map(({ pk, sk }) => [pk, sk]))).not.toContain(person.phone.slice(-9));
    expect(lines.join()).not.toContain(person.phone.slice(-9));
  });
});
