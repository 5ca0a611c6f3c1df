import type { IdentityRegistry, IdentityVerdict, OwnershipVerdict } from '#shared/identity-registry/port.ts';

/** The verdict of a fake registry on a national id, or the error that it throws. */
export interface FakeAnswers {
  readonly identity?: (nationalId: string) => IdentityVerdict | Error;
  readonly ownership?: (nationalId: string) => OwnershipVerdict | Error;
}

const give = async <T>(answer: T | Error): Promise<T> => {
  if (answer instanceof Error) throw answer;
  return answer;
};

/** A registry in memory, for tests. It matches every person for whom `FakeAnswers` has no other verdict. */
export const fakeIdentityRegistry = ({ identity, ownership }: FakeAnswers = {}): IdentityRegistry => ({
  checkIdentity: (nationalId) => give(identity?.(nationalId) ?? 'matched'),
  checkPhoneOwnership: (nationalId) => give(ownership?.(nationalId) ?? 'matched'),
});
