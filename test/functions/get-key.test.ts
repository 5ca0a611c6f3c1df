import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { rotateKey } from '#admin/operations/change-key.ts';
import { KEY_LIMIT_NAMES, keyLimit } from '#shared/rate-limits/key-limits.ts';
import { setting } from '#shared/table/conditions.ts';
import { apiKeyKey } from '#shared/table/keys.ts';
import { limiterOn } from '#test/shared/rate-limits/limiter-on.ts';
import { interceptedTable } from '#test/table/intercepted-table.ts';
import { KEY_END_TEXT, type OwnKey, timedOut, useOwnKey } from './own-key-under-test.ts';

const newOwnKey = useOwnKey();
let own: OwnKey;
beforeEach(async () => {
  own = await newOwnKey();
});

const call = async () => own.getKey().call({ authorizer: own.authorizer });

describe('200', () => {
  it('returns the key with its seller, plan, scopes, secret and limits, this request counted', async () => {
    const { key, secret, seller } = own.issued;
    const { status, json, headers } = await call();
    expect([status, json]).toEqual([
      200,
      {
        id: key.key_id,
        name: 'server',
        seller: { id: seller.seller_id, name: 'Kaveh Books' },
        plan: 'free',
        scopes: ['users:read', 'key:rotate'],
        expires_at: KEY_END_TEXT,
        last_four: secret.slice(-4),
        secrets: [{ last_four: secret.slice(-4), expires_at: KEY_END_TEXT }],
        limits: [
          { name: 'free', maximum: 100, remaining: 99, resets_in: 59 },
          { name: 'sms-per-hour', maximum: 100, remaining: 100, resets_in: 3599 },
          { name: 'failed-checks-per-hour', maximum: 10, remaining: 10, resets_in: 3599 },
          { name: 'refused-links-per-hour', maximum: 100, remaining: 100, resets_in: 3599 },
          { name: 'failed-verifies-per-hour', maximum: 100, remaining: 100, resets_in: 3599 },
          { name: 'paid-checks-per-day', maximum: 500, remaining: 500, resets_in: 14 * 3600 - 1 },
        ],
      },
    ]);
    expect(headers.RateLimit).toBe('"free";r=99;t=59');
  });

  it('leaves scopes of a later version out without logging them, as the authorizer has', async () => {
    const { client, name: TableName } = own.administration.table;
    const { seller_id, key_id } = own.issued.key;
    const scopes = ['users:export', 'users:read'];
    await client.send(
      new UpdateCommand({ TableName, Key: apiKeyKey(seller_id, key_id), ...setting({ scopes }) }),
    );
    const { call, lines } = own.getKey();
    expect((await call({ authorizer: own.authorizer })).json.scopes).toEqual(['users:read']);
    expect(lines.map((line) => JSON.parse(line).event)).not.toContain('key_values_unknown');
  });

  it('returns what remains of each limit, and the overrides of the key', async () => {
    const limits = { 'sms-per-hour': 7, 'paid-checks-per-day': 9 };
    const caller = { keyId: own.authorizer.keyId, plan: 'free', limits } as const;
    const limiter = limiterOn(own.administration.table);
    for (const name of KEY_LIMIT_NAMES)
      await limiter.increment(keyLimit(name, caller), own.administration.clock());
    const authorizer = { ...own.authorizer, limits: JSON.stringify(limits) };
    const { json } = await own.getKey().call({ authorizer });
    const remaining = json.limits.map((limit: { remaining: number }) => limit.remaining);
    expect(remaining).toEqual([99, 6, 9, 99, 99, 8]);
  });

  it('returns the valid secrets with their ends, newest first, through three generations', async () => {
    const { admin, clock } = own.administration;
    const lastFour = async (graceSeconds: number) =>
      (await rotateKey(admin, own.authorizer.keyId, graceSeconds)).secret.slice(-4);
    const first = own.issued.secret.slice(-4);
    const [second, third] = [await lastFour(1800), await lastFour(3600)];
    const shown = async () => {
      const { last_four, expires_at, secrets } = (await call()).json;
      return { last_four, expires_at, secrets };
    };
    const newest = { last_four: third, expires_at: KEY_END_TEXT };
    const key = { last_four: third, expires_at: KEY_END_TEXT };
    expect(await shown()).toEqual({
      ...key,
      secrets: [
        newest,
        { last_four: second, expires_at: '2026-11-21T11:00:01Z' },
        { last_four: first, expires_at: '2026-11-21T10:30:01Z' },
      ],
    });
    clock.advance(1800);
    expect((await shown()).secrets).toHaveLength(2);
    clock.advance(1799);
    expect((await shown()).secrets).toHaveLength(2);
    clock.advance(1);
    expect(await shown()).toEqual({ ...key, secrets: [newest] });
  });

  it('returns null for the end of a key and of a secret that have none', async () => {
    own = await newOwnKey({ expiresAt: undefined });
    const { secret } = await rotateKey(own.administration.admin, own.authorizer.keyId, 3600);
    const { json } = await call();
    expect([json.expires_at, json.secrets]).toEqual([
      null,
      [
        { last_four: secret.slice(-4), expires_at: null },
        { last_four: own.issued.secret.slice(-4), expires_at: '2026-11-21T11:00:01Z' },
      ],
    ]);
  });
});

describe('503', () => {
  it.each(['UpdateCommand', 'BatchGetCommand'])(
    'is service_unavailable if %s gets no response: no number is guessed',
    async (failing) => {
      const broken = interceptedTable(own.administration.table, ({ name }, send) =>
        name === failing ? Promise.reject(timedOut) : send(),
      );
      const { status, json } = await own.getKey(broken).call({ authorizer: own.authorizer });
      expect([status, json.code]).toEqual([503, 'service_unavailable']);
    },
  );
});
