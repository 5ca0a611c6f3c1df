import { revokeKey, rotateKey as rotateByAdmin } from '#admin/operations/change-key.ts';
import { reconcile } from '#admin/operations/reconcile.ts';
import { setSellerStatus } from '#admin/operations/sellers.ts';
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
const rotationRecords = async () =>
  (await own.administration.admin.audit.list(own.authorizer.sellerId, { limit: 100 })).filter(
    ({ action }) => action === 'key.rotated',
  );

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

  it('gives the old secret 24 hours by default, without a body too, and never longer than it had', async () => {
    const authorizer = { ...own.authorizer, secretNumber: '1' };
    const { status, json } = await own.rotateKey().call({ authorizer, rawBody: null });
    expect([status, json.old_secret_expires_at]).toEqual([201, '2026-11-22T10:00:01Z']);
    own.administration.clock.advance(3600);
    expect((await rotate({ grace_hours: 720 })).json.old_secret_expires_at).toBe('2026-11-22T10:00:01Z');
    expect((await rotate({ grace_hours: 1 })).json.old_secret_expires_at).toBe('2026-11-21T12:00:01Z');
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

  it('leaves nothing to reconcile', async () => {
    await rotate();
    expect((await reconcile(own.administration.admin, { fix: false })).findings).toEqual([]);
  });

  it('replaces a new secret that was never used, so a lost response costs nothing', async () => {
    const { json: lost } = await rotate();
    const { json: kept } = await rotate();
    expect(await works(own.issued.secret, lost.secret, kept.secret)).toEqual([true, false, true]);
    expect((await stored())?.secrets).toHaveLength(2);
  });

  it('rotates again after the old secret has ended', async () => {
    const { json: first } = await rotate({ grace_hours: 1 });
    await own.administration.use(first.secret);
    own.administration.clock.advance(3600);
    const { status, json } = await rotate({ grace_hours: 1 }, '2');
    expect(status).toBe(201);
    expect(await works(own.issued.secret, first.secret, json.secret)).toEqual([false, true, true]);
  });

  it('keeps one new secret of rotations at the same time', async () => {
    const replies = await Promise.all(Array.from({ length: 5 }, () => rotate()));
    expect(replies.map(({ status }) => status)).toEqual(Array(5).fill(201));
    const working = await works(...replies.map(({ json }) => json.secret));
    expect(working.filter(Boolean)).toEqual([true]);
    expect(await works(own.issued.secret)).toEqual([true]);
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

describe('401', () => {
  it.each([
    ['the key was revoked', () => revokeKey(own.administration.admin, own.authorizer.keyId)],
    [
      'the seller was suspended',
      () => setSellerStatus(own.administration.admin, own.authorizer.sellerId, 'suspended'),
    ],
  ])('is invalid_api_key after %s, and nothing is written', async (_case, end) => {
    await end();
    const before = await stored();
    const { status, json } = await rotate();
    expect([status, json.code]).toEqual([401, 'invalid_api_key']);
    expect(await stored()).toEqual(before);
  });
});

describe('401, with a secret that has ended, while its decision is cached', () => {
  it('is invalid_api_key, and the secret that an admin made stays the only one', async () => {
    const { admin } = own.administration;
    const { json: replaced } = await rotate();
    await own.administration.use(replaced.secret);
    const { secret } = await rotateByAdmin(admin, own.authorizer.keyId, 0);
    for (const number of ['1', '2', '0'])
      expect((await rotate({}, number)).json.code).toBe('invalid_api_key');
    expect(await works(own.issued.secret, replaced.secret, secret)).toEqual([false, false, true]);
    expect((await rotate({}, '3')).status).toBe(201);
    expect(await works(secret)).toEqual([true]);
  });
});

describe('409', () => {
  it('is too_many_secrets while the old secret is valid and the new one was used', async () => {
    const { json: first } = await rotate();
    await own.administration.use(first.secret);
    const before = await stored();
    const { status, json } = await rotate();
    expect([status, json.code]).toEqual([409, 'too_many_secrets']);
    expect(await stored()).toEqual(before);
    expect(await works(own.issued.secret, first.secret)).toEqual([true, true]);
  });

  it('is too_many_secrets while the old secret is valid beside one that an admin made, used or not', async () => {
    const { secret } = await rotateByAdmin(own.administration.admin, own.authorizer.keyId, 3600);
    expect((await rotate()).json.code).toBe('too_many_secrets');
    await own.administration.use(secret);
    expect((await rotate()).json.code).toBe('too_many_secrets');
    expect(await works(secret)).toEqual([true]);
  });
});

describe('422', () => {
  it.each([0, 721, 1.5, -1, '24', null])(
    'rejects grace_hours %p and creates no secret',
    async (grace_hours) => {
      const { status, json } = await rotate({ grace_hours });
      expect([status, json.errors]).toEqual([
        422,
        [{ pointer: '#/grace_hours', detail: 'Must be an integer from 1 to 720.' }],
      ]);
      expect((await stored())?.secrets).toHaveLength(1);
    },
  );
});

describe('429', () => {
  it('is rate_limit_exceeded over the plan, and creates no secret', async () => {
    const { call } = own.getKey();
    for (let sent = 0; sent < 100; sent += 1) await call({ authorizer: own.authorizer });
    const { status, json } = await rotate();
    expect([status, json.code]).toEqual([429, 'rate_limit_exceeded']);
    expect((await stored())?.secrets).toHaveLength(1);
  });
});

describe('429, by the limit of rotations', () => {
  it('is rate_limit_exceeded for the sixth rotation of an hour, which makes no secret and no audit record', async () => {
    const statuses = [];
    for (let count = 0; count < 7; count += 1) statuses.push((await rotate()).status);
    expect(statuses).toEqual([201, 201, 201, 201, 201, 429, 429]);
    expect(await rotationRecords()).toHaveLength(5);
    const { json, headers } = await rotate();
    expect([json.code, headers.RateLimit]).toEqual([
      'rate_limit_exceeded',
      expect.stringContaining('"rotations-per-hour";r=0;t=3599'),
    ]);
    own.administration.clock.advance(3600);
    expect((await rotate()).status).toBe(201);
  });

  it('does not count a rotation that was refused with 409', async () => {
    const { json } = await rotate();
    await own.administration.use(json.secret);
    for (let count = 0; count < 6; count += 1) expect((await rotate()).status).toBe(409);
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
