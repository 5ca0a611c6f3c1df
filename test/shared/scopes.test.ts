import { isBuyerApp, registersBuyers } from '#shared/scopes.ts';

describe('isBuyerApp', () => {
  it('returns true for a key with buyers:register only', () => {
    expect(isBuyerApp({ scopes: ['users:read', 'buyers:register'] })).toBe(true);
    expect(isBuyerApp({ scopes: ['users:read', 'users:write'] })).toBe(false);
    expect(isBuyerApp(undefined)).toBe(false);
  });
});

describe('registersBuyers', () => {
  it("returns true for the buyer app's key, and where no key is taken", () => {
    expect(registersBuyers(undefined)).toBe(true);
    expect(registersBuyers({ scopes: ['buyers:register'] })).toBe(true);
    expect(registersBuyers({ scopes: ['users:read', 'users:write'] })).toBe(false);
    expect(registersBuyers({ scopes: [] })).toBe(false);
  });
});
