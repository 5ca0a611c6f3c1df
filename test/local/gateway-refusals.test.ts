import { decisionOn, problemOf, STAGE, useGateway, withKey } from './use-gateway.ts';

const { start, call, recorded, flush, time } = useGateway();

describe('401', () => {
  it('returns 401 without calling the authorizer when the key is missing or empty', async () => {
    await start();
    expect(await problemOf(await call('/v1/users'))).toBe('invalid_api_key');
    expect(await problemOf(await call('/v1/users', withKey('')))).toBe('invalid_api_key');
    expect(recorded().authorized).toHaveLength(0);
  });

  it('returns 401 each time the authorizer throws "Unauthorized"', async () => {
    await start({ authorize: () => Promise.reject(new Error('Unauthorized')) });
    expect(await problemOf(await call('/v1/users', withKey()))).toBe('invalid_api_key');
    expect(await problemOf(await call('/v1/users', withKey()))).toBe('invalid_api_key');
    expect(recorded().authorized).toHaveLength(2);
    expect(recorded().logged).toHaveLength(0);
  });
});

describe('403', () => {
  it('returns 403 when the policy does not allow the method, also from the cache', async () => {
    await start();
    await call('/v1/users', withKey());
    expect(await problemOf(await call('/v1/users', { ...withKey(), method: 'POST', body: '{}' }))).toBe(
      'insufficient_scope',
    );
    expect(recorded().authorized).toHaveLength(1);
    expect(recorded().events).toHaveLength(1);
  });

  it('names the method, the path of the row and the scopes of the key, and nothing that the caller sent', async () => {
    await start();
    const response = await call('/v1/users/usr_%22%7D?page=%22', { ...withKey(), method: 'DELETE' });
    expect([response.status, ((await response.json()) as { detail: string }).detail]).toEqual([
      403,
      'DELETE /v1/users/{id} needs a scope that this key does not have. It has: users:read, events:read. ' +
        '/docs names the scope of each operation; whoever issued the key can add it.',
    ]);
  });

  it('asks the policy for the path with the slash at its end, as API Gateway does, and calls no function if it is not named', async () => {
    await start();
    expect((await call('/v1/users', withKey())).status).toBe(200);
    expect(await problemOf(await call('/v1/users/', withKey()))).toBe('insufficient_scope');
    expect(recorded().events).toHaveLength(1);
  });
});

describe('the policy', () => {
  it.each([
    ['the method itself', true, `${STAGE}/GET/v1/users`],
    ['one of several methods', true, [`${STAGE}/POST/v1/users`, `${STAGE}/GET/v1/users`]],
    ['a star over all methods', true, `${STAGE}/*`],
    ['a star within', true, `${STAGE}/*/v1/users`],
    ['nothing', false, []],
    ['another method', false, `${STAGE}/POST/v1/users`],
    ['a path that only begins the same', false, `${STAGE}/GET/v1/user`],
    ['a longer path', false, `${STAGE}/GET/v1/users/1`],
    ['a dot that is no wildcard', false, `${STAGE}/GET.v1.users`],
  ])('by %s allows a method: %s', async (_what, isAllowed, resource) => {
    await start({ authorize: async () => decisionOn(resource) });
    expect((await call('/v1/users', withKey())).status).toBe(isAllowed ? 200 : 403);
  });

  it('that denies a method does not allow it', async () => {
    await start({ authorize: async () => decisionOn(`${STAGE}/GET/v1/users`, 'Deny') });
    expect((await call('/v1/users', withKey())).status).toBe(403);
  });
});

describe('the authorizer cache', () => {
  it('keeps the decision of each key by itself', async () => {
    await start();
    await call('/v1/users', withKey('one'));
    await call('/v1/users', withKey('other'));
    expect(recorded().authorized).toHaveLength(2);
  });

  it('keeps no decision that was in progress during a flush', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
    await start({
      authorize: async () => {
        begin();
        await promise;
        return decisionOn(`${STAGE}/*`);
      },
    });
    const early = call('/v1/users', withKey());
    await begun;
    flush();
    resolve();
    expect((await early).status).toBe(200);
    await call('/v1/users', withKey());
    await call('/v1/users', withKey());
    expect(recorded().authorized).toHaveLength(2);
  });

  it('keeps a decision for 300 seconds or until a flush', async () => {
    await start();
    await call('/v1/users', withKey());
    time.nowMs = 299_999;
    await call('/v1/users', withKey());
    expect(recorded().authorized).toHaveLength(1);
    time.nowMs = 300_000;
    await call('/v1/users', withKey());
    expect(recorded().authorized).toHaveLength(2);
    flush();
    await call('/v1/users', withKey());
    expect(recorded().authorized).toHaveLength(3);
  });
});

describe('public one-time-code operations', () => {
  it('need no key, and their functions see no caller', async () => {
    await start({ otpAccess: 'public' });
    expect((await call('/v1/auth/otp/send', { method: 'POST', body: '{}' })).status).toBe(200);
    expect(recorded().events[0]?.requestContext.authorizer).toBeUndefined();
    expect(await problemOf(await call('/v1/users'))).toBe('invalid_api_key');
  });
});

describe('404', () => {
  it.each(['/v1', '/v1/nothing', '/v10'])('returns 404 at %s, which no cache may store', async (path) => {
    await start();
    const reply = await call(path);
    expect(await problemOf(reply)).toBe('not_found');
    expect(reply.headers.get('cache-control')).toBe('no-store');
  });
});

describe('404 of the rows for the buyer app', () => {
  it('is the response where the one-time-code operations are public', async () => {
    await start({ otpAccess: 'public' });
    const find = await call('/v1/buyer/links/find', { ...withKey(), method: 'POST', body: '{}' });
    const end = await call('/v1/buyer/links/lnk_1', { ...withKey(), method: 'DELETE' });
    expect([await problemOf(find), await problemOf(end)]).toEqual(['not_found', 'not_found']);
    expect(recorded().events).toHaveLength(0);
  });
});

describe('204', () => {
  it('is sent without a body and without Content-Length', async () => {
    await start({ handle: async () => ({ statusCode: 204, headers: { 'X-Request-Id': 'f' }, body: '' }) });
    const reply = await call('/v1/users', withKey());
    expect([reply.status, await reply.text()]).toEqual([204, '']);
    expect(reply.headers.get('content-length')).toBeNull();
    expect(reply.headers.get('content-type')).toBeNull();
  });
});

describe('503', () => {
  it('returns service_unavailable with Retry-After when the authorizer fails, and logs the cause', async () => {
    await start({ authorize: () => Promise.reject(new Error('no table')) });
    const reply = await call('/v1/users', withKey());
    expect(await reply.json()).toMatchObject({ code: 'service_unavailable', retry_after: 5 });
    expect(reply.headers.get('retry-after')).toBe('5');
    expect(reply.headers.get('cache-control')).toBe('no-store');
    expect(JSON.parse(recorded().logged[0] ?? '')).toMatchObject({
      event: 'request_failed',
      operation: 'authorizer',
      error_message: 'no table',
    });
    expect(recorded().events).toHaveLength(0);
  });
});

describe('500', () => {
  it.each([
    ['a function fails', { handle: () => Promise.reject(new Error('no table')) }],
    ['a function returns no response', { handle: async () => ({}) }],
  ] as const)('returns internal when %s, and logs the cause', async (_what, setup) => {
    await start(setup);
    expect(await problemOf(await call('/v1/users', withKey()))).toBe('internal');
    expect(JSON.parse(recorded().logged[0] ?? '')).toMatchObject({
      event: 'request_failed',
      operation: 'list-users',
    });
  });
});
