import type { components } from './generated/openapi.ts';
import type { Call } from './options.ts';

type Schemas = components['schemas'];

/** A user as the service returns it. */
export type User = Schemas['User'];
/** The body of a link. */
export type NewUser = Schemas['CreateUserBody'];
/** The body of a correction. */
export type UserUpdate = Schemas['UpdateUserBody'];
/** The body of a check of a user. */
export type CheckedPerson = Schemas['CheckUserBody'];
/** A user as a correction returns it: without the data that only `users:read` shows. */
export type CorrectedUser = Schemas['CorrectedUser'];
/** A page of users. `page` and `total_pages` are missing after `after`. */
export type UserPage = Schemas['UserPage'];
/** The lifetime of a code that was sent, and the time until the next one, in seconds. */
export type CodeSent = Schemas['CodeSent'];
/** An access token and its lifetime in seconds. */
export type AccessToken = Schemas['AccessToken'];
/** An API key: its plan, scopes, secrets and the state of its limits. */
export type Key = Schemas['Key'];
/** What a key used, by hour and by day. */
export type KeyUsage = Schemas['KeyUsage'];
/** How long the old secret of a key stays valid, in hours: 24 if it is left out. */
export type Rotation = Partial<Schemas['RotateKeyBody']>;
/** A new secret of a key. It is shown only once. */
export type NewSecret = Schemas['NewSecret'];

/** The query of `listUsers`. `after` excludes `page`, `phone` and `external_id`. */
export interface UserQuery {
  /** Counts from 1, default 1. */
  readonly page?: number | undefined;
  /** The most users of a page, from 1 to 100, default 20. */
  readonly page_size?: number | undefined;
  /** Only the users that were linked after the user with this id, which may be removed: `next_after` of a page. */
  readonly after?: string | undefined;
  /** Only the users with this phone, in any accepted form. */
  readonly phone?: string | undefined;
  /** Only the user with this external id. */
  readonly external_id?: string | undefined;
}

/** The query of `listEvents`. */
export interface EventQuery {
  /** Only the events after the one with this number. Left out: from the oldest event that the service keeps. */
  readonly after?: number | undefined;
  /** The most events of a page, from 1 to 100, default 100. */
  readonly limit?: number | undefined;
}

/** The query of `usage`. */
export interface UsageQuery {
  /** How many times 24 hours: 1 to 35, default 7. */
  readonly days?: number | undefined;
}

/** A linked user. `isNew` is false if the buyer was linked before. */
export interface LinkedUser {
  readonly user: User;
  readonly isNew: boolean;
}

/** Your users with one phone. Several people can have had the number one after the other. */
export interface PhoneMatch {
  /** The one that was checked last first. */
  readonly users: readonly User[];
  /** Whole days since the check of the first; undefined without users. */
  readonly daysSinceCheck: number | undefined;
}

/** A link of a buyer with a seller, as the buyer app shows it. */
export type BuyerLink = Schemas['BuyerLinks']['data'][number];
/** The person whose links a buyer asks for. */
export type ClaimedPerson = Schemas['FindLinksBody'];

/** How a buyer is linked. */
export interface LinkOptions extends Call {
  /** The access token of a sign-in of the buyer at your shop: it links a buyer who ended an earlier link. */
  readonly accessToken?: string | undefined;
}

/** How a buyer's links are found and ended. */
export interface BuyerCall extends Call {
  /** The access token of the buyer's sign-in. */
  readonly accessToken: string;
}

/** The phone that gets a code. */
export interface CodeRequest {
  readonly phone: string;
  /** The language of the message: Persian by default. */
  readonly locale?: 'fa' | 'en' | undefined;
}
/** The phone and the code that the buyer typed. */
export type TypedCode = Schemas['VerifyOtpBody'];
