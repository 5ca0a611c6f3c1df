/** The port to the national registries. Each provider has one file beside this. */

/** A day of birth in the Solar Hijri calendar. */
export interface JalaliDay {
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

/** Returns a day as `13700115`, or with a separator: `1370/01/15`. */
export const formatDay = ({ year, month, day }: JalaliDay, separator = ''): string =>
  [year, month, day].map((part) => String(part).padStart(2, '0')).join(separator);

/** The verdict of a registry on a national id and a day of birth. */
export type IdentityVerdict = 'matched' | 'not_found' | 'deceased';
/** The verdict of a registry on a phone and a national id. */
export type OwnershipVerdict = 'matched' | 'not_matched';

/** A registry that checks persons. Both methods end when the signal aborts. */
export interface IdentityRegistry {
  /** Checks that a living person has this national id (10 ASCII digits) and day of birth. Throws ProviderUnavailable without a verdict. */
  checkIdentity(nationalId: string, birthDate: JalaliDay, signal: AbortSignal): Promise<IdentityVerdict>;
  /** Checks that this phone (E.164) belongs to this national id. Throws ProviderUnavailable without a verdict. */
  checkPhoneOwnership(nationalId: string, phone: string, signal: AbortSignal): Promise<OwnershipVerdict>;
}

/** The names of the operations in errors, logs and metrics. */
export const IDENTITY = 'identity';
export const OWNERSHIP = 'ownership';
