import { isBuyerAppOrPublic } from '#shared/scopes.ts';

describe('isBuyerAppOrPublic', () => {
  it('returns true for a key with buyers:register only, and where no key is taken', () => {
    expect(isBuyerAppOrPublic({ scopes: ['users:read', 'buyers:register'] })).toBe(true);
    expect(isBuyerAppOrPublic({ scopes: ['users:read', 'users:write'] })).toBe(false);
    expect(isBuyerAppOrPublic({ scopes: [] })).toBe(false);
    expect(isBuyerAppOrPublic(undefined)).toBe(true);
  });
});
