import type { IdentityRegistry, IdentityVerdict, OwnershipVerdict } from '#shared/identity-registry/port.ts';

/** What a fake registry says of a national id: a verdict, or the error that stands in its place. */
export interface FakeAnswers {
  readonly identity?: (nationalId: string) => IdentityVerdict | Error;
  readonly ownership?: (nationalId: string) => OwnershipVerdict | Error;
}

const give = async <T>(answer: T | Error): Promise<T> => {
  if (answer instanceof Error) throw answer;
  return answer;
};

/** A registry in memory, for tests. Everybody matches of whom it is not told otherwise. */
export const fakeIdentityRegistry = ({ identity, ownership }: FakeAnswers = {}): IdentityRegistry => ({
  checkIdentity: (nationalId) => give(identity?.(nationalId) ?? 'matched'),
  checkPhoneOwnership: (nationalId) => give(ownership?.(nationalId) ?? 'matched'),
});
