/** The national registries, as this service sees them. One file a provider beside this. */

/** A day of birth in the Solar Hijri calendar. */
export interface JalaliDay {
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

export type IdentityVerdict = 'matched' | 'not_found' | 'deceased';
export type OwnershipVerdict = 'matched' | 'not_matched';

export interface IdentityRegistry {
  /** Is there a living person with this national id (10 ASCII digits), born on this day? Throws ProviderUnavailable if undecided. */
  checkIdentity(nationalId: string, birthDate: JalaliDay, signal: AbortSignal): Promise<IdentityVerdict>;
  /** Does this phone (E.164) belong to this national id? Throws ProviderUnavailable if undecided. */
  checkPhoneOwnership(nationalId: string, phone: string, signal: AbortSignal): Promise<OwnershipVerdict>;
}

/** The operations of a registry, as errors, logs and metrics name them. */
export const IDENTITY = 'identity';
export const OWNERSHIP = 'ownership';
