import { isBuyerApp } from '#shared/scopes.ts';

describe('isBuyerApp', () => {
  it('returns true for a key with buyers:register only, and where no key is taken', () => {
    expect(isBuyerApp({ scopes: ['users:read', 'buyers:register'] })).toBe(true);
    expect(isBuyerApp({ scopes: ['users:read', 'users:write'] })).toBe(false);
    expect(isBuyerApp({ scopes: [] })).toBe(false);
    expect(isBuyerApp(undefined)).toBe(true);
  });
});
