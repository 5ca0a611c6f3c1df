import type { KeySecret } from '#shared/api-keys/api-key-item.ts';
import { allows, callerFrom, policyFor } from '#shared/api-keys/caller.ts';
import { redirectLog } from '#shared/log.ts';
import type { Route } from '#shared/route.ts';
import { allRoutes, routes } from '#shared/routes.ts';
import type { Scope } from '#shared/scopes.ts';

const NOW = Date.parse('2026-11-21T12:00:00Z');
const context = {
  sellerId: 'sel_1',
  keyId: 'key_1',
  plan: 'free',
  scopes: 'users:read, users:write',
  secretNumber: '3',
};
const caller = {
  sellerId: 'sel_1',
  keyId: 'key_1',
  plan: 'free',
  scopes: ['users:read', 'users:write'],
  limits: {},
  expiresAt: undefined,
  secretNumber: 3,
};

describe('the caller of a request', () => {
  test('has the fields of the authorizer context and none that API Gateway adds', () => {
    const event = { ...context, expiresAt: '', principalId: 'key_1', integrationLatency: 12 };
    expect(callerFrom(event, NOW)).toEqual(caller);
  });

  test('has a key that does not expire, whether API Gateway passes the empty value on or leaves it out', () => {
    expect(callerFrom({ ...context, expiresAt: '' }, NOW)).toEqual(caller);
    expect(callerFrom(context, NOW)).toEqual(caller);
  });

  test('is rejected with invalid_api_key from the second in which its key expires', () => {
    const expiresAt = NOW / 1000 + 1;
    expect(callerFrom({ ...context, expiresAt: String(expiresAt) }, NOW)).toEqual({ ...caller, expiresAt });
    expect(() => callerFrom({ ...context, expiresAt: String(NOW / 1000) }, NOW)).toThrow('invalid_api_key');
  });

  test('has the scopes of a decision that an earlier version made, which is still cached', () => {
    expect(callerFrom({ ...context, scopes: 'users:read users:write' }, NOW).scopes).toEqual([
      'users:read',
      'users:write',
    ]);
  });

  test('has the known scopes and the smallest plan of a decision that a later version made, which is still cached', () => {
    const restore = redirectLog(() => {});
    const { scopes, plan } = callerFrom(
      { ...context, scopes: 'users:read, users:export', plan: 'gold' },
      NOW,
    );
    restore();
    expect({ scopes, plan }).toEqual({ scopes: ['users:read'], plan: 'free' });
  });

  test('has no scopes if its key has none', () => {
    expect(callerFrom({ ...context, scopes: '' }, NOW).scopes).toEqual([]);
  });

  test('has the limit overrides of the authorizer context', () => {
    const limits = JSON.stringify({ 'sms-per-hour': 10_000 });
    expect(callerFrom({ ...context, limits }, NOW).limits).toEqual({ 'sms-per-hour': 10_000 });
  });

  test.each([undefined, null, {}, { ...context, sellerId: undefined }])(
    'throws without a complete authorizer context: %j',
    (authorizer) => {
      expect(() => callerFrom(authorizer, NOW)).toThrow();
    },
  );
});

const METHOD_ARN = 'arn:aws:execute-api:eu-central-1:000000000000:api/prod/POST/v1/users';
const STAGE_ARN = 'arn:aws:execute-api:eu-central-1:000000000000:api/prod';

const secretWith = (scopes: readonly Scope[]): KeySecret => ({
  seller_id: 'sel_1',
  key_id: 'key_1',
  scopes: [...scopes],
  plan: 'professional',
  usage_id: 'usage',
  status: 'active',
  seller_status: 'active',
  number: 1,
});

/** API Gateway asks for a path with a slash at its end as it was sent. */
const resourceOf = ({ method, path }: Pick<Route, 'method' | 'path'>) =>
  ['', '/'].map((end) => `${STAGE_ARN}/${method}${path.replace(/\{\w+\}/g, '*')}${end}`);

const resourcesFor = (scopes: readonly Scope[], rows: readonly Route[] = allRoutes) => {
  const { Statement } = policyFor(secretWith(scopes), METHOD_ARN, rows).policyDocument;
  return (Statement as unknown as readonly { Resource: string[] }[])[0]?.Resource;
};

describe('policyFor', () => {
  it('covers every method that the scopes allow, whichever was called', () => {
    expect(resourcesFor(['users:read'])).toEqual(
      allRoutes.filter((route) => allows(['users:read'], route)).flatMap(resourceOf),
    );
  });

  it('turns each path parameter into a wildcard', () => {
    const row: Route = {
      ...routes['list-users'],
      name: 'sample',
      method: 'PATCH',
      path: '/v1/samples/{id}/parts/{part}',
    };
    expect(resourcesFor(['users:read'], [row])).toEqual([
      `${STAGE_ARN}/PATCH/v1/samples/*/parts/*`,
      `${STAGE_ARN}/PATCH/v1/samples/*/parts/*/`,
    ]);
  });

  it('allows exactly the methods that need a key and no scope for a key without a scope', () => {
    const withoutScope = allRoutes.filter(({ access }) => access.by !== 'public' && !('scope' in access));
    expect(withoutScope.map(({ name }) => name)).toEqual(expect.arrayContaining(['send-otp', 'verify-otp']));
    expect(resourcesFor([])).toEqual(withoutScope.flatMap(resourceOf));
  });
});

describe('allows', () => {
  it.each([
    ['users:read', 'list-users', true],
    ['users:read', 'create-user', false],
    ['users:write', 'create-user', true],
    ['users:write', 'list-users', false],
  ] as const)('%s on %s is %s', (scope, name, expected) => {
    expect(allows([scope], routes[name])).toBe(expected);
  });
});
