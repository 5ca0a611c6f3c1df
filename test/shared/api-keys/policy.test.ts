import { allows, policyFor } from '#shared/api-keys/policy.ts';
import type { KeySecret } from '#shared/api-keys/schema.ts';
import type { Route } from '#shared/route.ts';
import { allRoutes, routes } from '#shared/routes.ts';
import type { Scope } from '#shared/scopes.ts';

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
});

const resourcesFor = (scopes: readonly Scope[], rows: readonly Route[] = allRoutes) => {
  const { Statement } = policyFor(secretWith(scopes), METHOD_ARN, rows).policyDocument;
  return (Statement as unknown as readonly { Resource: string[] }[])[0]?.Resource;
};

describe('policyFor', () => {
  it('covers every method that the scopes allow, whichever was called', () => {
    expect(resourcesFor(['users:read'])).toEqual(
      allRoutes
        .filter((route) => allows(['users:read'], route))
        .map(({ method, path }) => `${STAGE_ARN}/${method}${path.replace(/\{\w+\}/g, '*')}`),
    );
  });

  it('turns each path parameter into a wildcard', () => {
    const row: Route = {
      ...routes['list-users'],
      name: 'sample',
      method: 'PATCH',
      path: '/v1/samples/{id}/parts/{part}',
    };
    expect(resourcesFor(['users:read'], [row])).toEqual([`${STAGE_ARN}/PATCH/v1/samples/*/parts/*`]);
  });

  it('allows exactly the methods that need a key and no scope for a key without a scope', () => {
    const withoutScope = allRoutes.filter(({ access }) => access.by !== 'public' && !('scope' in access));
    expect(withoutScope.map(({ name }) => name)).toEqual(expect.arrayContaining(['send-otp', 'verify-otp']));
    expect(resourcesFor([])).toEqual(
      withoutScope.map(({ method, path }) => `${STAGE_ARN}/${method}${path.replace(/\{\w+\}/g, '*')}`),
    );
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
