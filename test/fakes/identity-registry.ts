import type { IdentityRegistry, IdentityVerdict, OwnershipVerdict } from '#shared/identity-registry/port.ts';

/** The verdict of a fake registry on a national id, or the error that it throws. */
export interface FakeResults {
  readonly identity?: (nationalId: string) => IdentityVerdict | Error;
  readonly ownership?: (nationalId: string) => OwnershipVerdict | Error;
}

const give = async <T>(result: T | Error): Promise<T> => {
  if (result instanceof Error) throw result;
  return result;
};

/** A registry in memory, for tests. It matches every person for whom `FakeResults` has no other verdict. */
export const fakeIdentityRegistry = ({ identity, ownership }: FakeResults = {}): IdentityRegistry => ({
  checkIdentity: (nationalId) => give(identity?.(nationalId) ?? 'matched'),
  checkPhoneOwnership: (nationalId) => give(ownership?.(nationalId) ?? 'matched'),
});
