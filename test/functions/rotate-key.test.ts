import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { revokeKey, rotateKey as rotateByAdmin, setExpiry } from '#admin/operations/change-key.ts';
import { findDifferences } from '#admin/operations/reconcile.ts';
import { setSellerStatus } from '#admin/operations/sellers.ts';
import { hashApiKey } from '#shared/api-keys/secret.ts';
import { keySecretStore } from '#shared/api-keys/store.ts';
import { apiKeyKey } from '#shared/table/keys.ts';
import { interceptedTable } from '#test/table/intercepted-table.ts';
import { type OwnKey, timedOut, useOwnKey } from './own-key-under-test.ts';

const newOwnKey = useOwnKey();
let own: OwnKey;
beforeEach(async () => {
  own = await newOwnKey();
});

/** Rotates with one of the key's secrets, by its number. */
const rotate = (body: object = {}, secretNumber = '1') =>
  own.rotateKey().call({ authorizer: { ...own.authorizer, secretNumber }, body });
const works = (...secrets: readonly string[]) =>
  Promise.all(secrets.map((secret) => own.administration.works(secret)));
const stored = async () => own.administration.admin.keys.find(own.authorizer.keyId);
const itemOf = (secret: string) => keySecretStore(own.administration.table).findSecret(hashApiKey(secret));
const seconds = (time: string) => Date.parse(time) / 1000;
const rotationRecords = async () =>
  (await own.administration.admin.audit.list(own.authorizer.sellerId, { limit: 100 })).filter(
    ({ action }) => action === 'key.rotated',
  );

/** Rotates while `meanwhile` happens: after the key was read, before the first attempt to write it. */
const rotateBeside = (meanwhile: () => Promise<unknown>) => {
  let writes = 0;
  const beside = interceptedTable(own.administration.table, async ({ name }, send) => {
    if (name === 'TransactWriteCommand') writes += 1;
    if (name === 'TransactWriteCommand' && writes === 1) await meanwhile();
    return send();
  });
  return own.rotateKey(beside).call({ authorizer: own.authorizer, body: {} });
};

describe('201', () => {
  it('returns a new secret that works beside the old one until the old one ends', async () => {
    const { secret: old } = own.issued;
    expect(await works(old)).toEqual([true]);
    const { status, json } = await rotate({ grace_hours: 2 });
    expect([status, json]).toEqual([
      201,
      {
        secret: expect.stringMatching(/^blk_test_[0-9A-Za-z]{38}$/),
        last_four: json.secret.slice(-4),
        old_secret_expires_at: '2026-11-21T12:00:01Z',
      },
    ]);
    expect(await works(old, json.secret)).toEqual([true, true]);
    own.administration.clock.advance(2 * 3600 - 1);
    expect(await works(json.secret)).toEqual([true]);
    own.administration.clock.advance(1);
    expect(await works(old, json.secret)).toEqual([false, true]);
  });

  it('gives the old secret 24 hours by default, without a body too', async () => {
    const { status, json } = await own.rotateKey().call({ authorizer: own.authorizer, rawBody: null });
    expect([status, json.old_secret_expires_at]).toEqual([201, '2026-11-22T10:00:01Z']);
  });

  it('ends the old secret with the key if that is before the end of the grace period', async () => {
    own = await newOwnKey({ expiresAt: seconds('2026-11-21T15:30:00Z') });
    const { json } = await rotate({ grace_hours: 6 });
    expect(json.old_secret_expires_at).toBe('2026-11-21T15:30:00Z');
    expect((await itemOf(own.issued.secret))?.expires_at).toBe(seconds('2026-11-21T15:30:00Z'));
  });

  it('writes who rotated into the audit and the key, in the transaction of the rotation', async () => {
    const { json } = await rotate();
    const { sellerId, keyId } = own.authorizer;
    expect(await rotationRecords()).toEqual([
      {
        at: '2026-11-21T10:00:01.000Z',
        actor: `key:${keyId}`,
        action: 'key.rotated',
        seller_id: sellerId,
        key_id: keyId,
        details: { grace_seconds: 86_400, last_four: json.last_four },
      },
    ]);
    const key = await stored();
    expect(key?.secrets.map(({ created_by }) => created_by)).toEqual(['seller', 'admin']);
    expect(key?.unflushed_since).toBeUndefined();
    expect(JSON.stringify([await rotationRecords(), key])).not.toContain(json.secret);
  });

  it('keeps a scope of a later version, which this one does not know', async () => {
    const { sellerId, keyId } = own.authorizer;
    const { table } = own.administration;
    await table.client.send(
      new UpdateCommand({
        TableName: table.name,
        Key: apiKeyKey(sellerId, keyId),
        UpdateExpression: 'SET scopes = :scopes',
        ExpressionAttributeValues: { ':scopes': ['key:rotate', 'future:read'] },
      }),
    );
    expect((await rotate()).status).toBe(201);
    expect((await stored())?.scopes).toEqual(['key:rotate', 'future:read']);
  });

  it('leaves nothing to reconcile', async () => {
    await rotate();
    expect((await findDifferences(own.administration.admin)).differences).toEqual([]);
  });

  it('makes a third generation after the old secret has ended, and deletes the item of that one', async () => {
    const { json: second } = await rotate({ grace_hours: 1 });
    own.administration.clock.advance(3600);
    const { status, json: third } = await rotate({ grace_hours: 5 }, '2');
    expect([status, third.old_secret_expires_at]).toEqual([201, '2026-11-21T16:00:01Z']);
    expect(await works(own.issued.secret, second.secret, third.secret)).toEqual([false, true, true]);
    expect(await itemOf(own.issued.secret)).toBeUndefined();
    expect([(await itemOf(second.secret))?.number, (await itemOf(third.secret))?.number]).toEqual([2, 3]);
    expect((await stored())?.secrets.map(({ number, last_four }) => [number, last_four])).toEqual([
      [3, third.last_four],
      [2, second.last_four],
    ]);
    expect((await rotate({}, '1')).json.code).toBe('invalid_api_key');
    own.administration.clock.advance(5 * 3600);
    expect((await rotate({}, '3')).status).toBe(201);
    expect((await stored())?.secrets.map(({ number }) => number)).toEqual([4, 3]);
  });

  it('makes one secret of rotations at the same time, and refuses the others with 409', async () => {
    const replies = await Promise.all(Array.from({ length: 5 }, () => rotate()));
    expect(replies.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409]);
    const made = replies.find(({ status }) => status === 201);
    expect(await works(own.issued.secret, made?.json.secret)).toEqual([true, true]);
    expect((await stored())?.secrets.map(({ number }) => number)).toEqual([2, 1]);
    expect(await rotationRecords()).toHaveLength(1);
  });

  it('ends the old secret with the key when an admin shortens the key before the write', async () => {
    const { admin } = own.administration;
    const end = '2026-11-21T11:45:00Z';
    const { json } = await rotateBeside(() => setExpiry(admin, own.authorizer.keyId, seconds(end)));
    expect(json.old_secret_expires_at).toBe(end);
    expect((await itemOf(json.secret))?.expires_at).toBe(seconds(end));
  });

  it('recognizes its own write when the response was lost', async () => {
    let lost = 0;
    const lossy = interceptedTable(own.administration.table, async ({ name }, send) => {
      if (name !== 'TransactWriteCommand') return send();
      const sent = await send();
      if (lost > 0) return sent;
      lost += 1;
      return send();
    });
    const { status, json } = await own.rotateKey(lossy).call({ authorizer: own.authorizer, body: {} });
    expect([status, lost]).toEqual([201, 1]);
    expect(await works(own.issued.secret, json.secret)).toEqual([true, true]);
    expect((await stored())?.secrets).toHaveLength(2);
  });
});

/** What an admin can do so that the secret of a request ends. */
const ENDS = [
  ['the key is revoked', () => revokeKey(own.administration.admin, own.authorizer.keyId)],
  [
    'the seller is suspended',
    () => setSellerStatus(own.administration.admin, own.authorizer.sellerId, 'suspended'),
  ],
  [
    'an admin rotates the key without a grace period',
    () => rotateByAdmin(own.administration.admin, own.authorizer.keyId, 0),
  ],
] as const;

describe('401', () => {
  it.each(ENDS)('is invalid_api_key when %s before, and nothing is written', async (_case, end) => {
    await end();
    const before = await stored();
    const { status, json } = await rotate();
    expect([status, json.code]).toEqual([401, 'invalid_api_key']);
    expect(await stored()).toEqual(before);
  });

  it.each(ENDS)(
    'is invalid_api_key when %s between the read and the write: the admin wins',
    async (_case, end) => {
      let after: unknown;
      const { status, json } = await rotateBeside(async () => {
        await end();
        after = await stored();
      });
      expect([status, json.code]).toEqual([401, 'invalid_api_key']);
      expect(await stored()).toEqual(after);
      expect(await works(own.issued.secret)).toEqual([false]);
    },
  );
});

describe('401, with a secret that has ended, while its decision is cached', () => {
  it('is invalid_api_key, and the secret that an admin made stays the only one', async () => {
    const { admin } = own.administration;
    const { json: second } = await rotate();
    const { secret } = await rotateByAdmin(admin, own.authorizer.keyId, 0);
    for (const number of ['1', '2', '0'])
      expect((await rotate({}, number)).json.code).toBe('invalid_api_key');
    expect(await works(own.issued.secret, second.secret, secret)).toEqual([false, false, true]);
    expect((await rotate({}, '3')).status).toBe(201);
    expect(await works(secret)).toEqual([true]);
  });
});

describe('409', () => {
  it('is too_many_secrets with either secret until the second in which the old one ends', async () => {
    const { json } = await rotate({ grace_hours: 1 });
    own.administration.clock.advance(3599);
    const before = await stored();
    for (const number of ['1', '2']) {
      const refused = await rotate({}, number);
      expect([refused.status, refused.json.code]).toEqual([409, 'too_many_secrets']);
    }
    expect(await stored()).toEqual(before);
    expect(await works(own.issued.secret, json.secret)).toEqual([true, true]);
    own.administration.clock.advance(1);
    expect((await rotate({}, '2')).status).toBe(201);
  });

  it('is too_many_secrets while a secret of an admin is the newest of two or three', async () => {
    const { admin } = own.administration;
    const { secret } = await rotateByAdmin(admin, own.authorizer.keyId, 7200);
    expect((await rotate()).json.code).toBe('too_many_secrets');
    const { secret: third } = await rotateByAdmin(admin, own.authorizer.keyId, 3600);
    for (const number of ['1', '2', '3'])
      expect((await rotate({}, number)).json.code).toBe('too_many_secrets');
    expect(await works(own.issued.secret, secret, third)).toEqual([true, true, true]);
  });

  it('is too_many_secrets when an admin makes a second secret between the read and the write', async () => {
    const { admin } = own.administration;
    const { status, json } = await rotateBeside(() => rotateByAdmin(admin, own.authorizer.keyId, 3600));
    expect([status, json.code]).toEqual([409, 'too_many_secrets']);
    expect((await stored())?.secrets.map(({ created_by }) => created_by)).toEqual(['admin', 'admin']);
  });
});

describe('422', () => {
  it('names grace_hours that are no integer from 1 to 720, and creates no secret', async () => {
    const wrong = [
      ...[0, 721, 1.5, -1].map((value) => [value, 'invalid'] as const),
      ...['24', null].map((value) => [value, 'type'] as const),
    ];
    for (const [grace_hours, code] of wrong) {
      const { status, json } = await rotate({ grace_hours });
      expect([grace_hours, status, json.errors]).toEqual([
        grace_hours,
        422,
        [{ pointer: '#/grace_hours', code, detail: 'Must be an integer from 1 to 720.' }],
      ]);
    }
    expect((await stored())?.secrets).toHaveLength(1);
  });
});

describe('503', () => {
  it('is service_unavailable if the transaction gets no response', async () => {
    const broken = interceptedTable(own.administration.table, ({ name }, send) =>
      name === 'TransactWriteCommand' ? Promise.reject(timedOut) : send(),
    );
    const { status, json } = await own.rotateKey(broken).call({ authorizer: own.authorizer, body: {} });
    expect([status, json.code]).toEqual([503, 'service_unavailable']);
  });
});
