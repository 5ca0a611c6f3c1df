/** The port to the national registries. Each provider has one file beside this. */
import type { BirthDate } from '#shared/values/birth-date.ts';

export type JalaliDay = BirthDate['jalali'];

/** Returns a day as `13700115`, or with a separator: `1370/01/15`. */
export const formatDay = ({ year, month, day }: JalaliDay, separator = ''): string =>
  [year, month, day].map((part) => String(part).padStart(2, '0')).join(separator);

export type IdentityVerdict = 'matched' | 'not_found' | 'deceased';
export type OwnershipVerdict = 'matched' | 'not_matched';

/** Both methods end when the signal aborts, and throw ProviderUnavailable without a verdict. */
export interface IdentityRegistry {
  /** Checks that a living person has this national id (10 ASCII digits) and day of birth. */
  checkIdentity(nationalId: string, birthDate: JalaliDay, signal: AbortSignal): Promise<IdentityVerdict>;
  /** Checks that this phone (E.164) belongs to this national id. */
  checkPhoneOwnership(nationalId: string, phone: string, signal: AbortSignal): Promise<OwnershipVerdict>;
}

/** The names of the operations in errors, logs and metrics. */
export const IDENTITY = 'identity';
export const OWNERSHIP = 'ownership';
