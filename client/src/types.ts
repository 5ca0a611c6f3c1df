import type { components, paths } from './generated/openapi.ts';
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
/** A page of users. */
export type UserPage = Required<Schemas['UserPage']>;
/** The users after one user. `next_after` goes on with those after these; it is null if there are none. */
export type UsersAfter = Required<Pick<Schemas['UserPage'], 'data' | 'page_size' | 'total' | 'next_after'>>;
/** The lifetime of a code that was sent, and the time until the next one, in seconds. */
export type CodeSent = Schemas['CodeSent'];
/** An access token and its lifetime in seconds. */
export type AccessToken = Schemas['AccessToken'];
/** An API key: its plan, scopes, secrets and the state of its limits. */
export type Key = Schemas['Key'];
/** What a key used, by hour and by day. */
export type KeyUsage = Schemas['KeyUsage'];
/** A new secret of a key. It is shown only once. */
export type NewSecret = Schemas['NewSecret'];

/**
 * The query of `listUsers`: `page` counts from 1 (default 1), `page_size` is the number of users on a page, from 1 to 100 (default 20),
 * and `phone` or `external_id` keeps only the users with that phone or external id.
 */
export type UserQuery = Omit<NonNullable<paths['/v1/users']['get']['parameters']['query']>, 'after'>;

/** The query of `listEvents`: `after` is the number of an event, and `limit` the most events of a page, from 1 to 100 (default 100). */
export type EventQuery = NonNullable<paths['/v1/events']['get']['parameters']['query']>;

/** A linked user. `isNew` is false if the buyer was linked before. */
export interface LinkedUser {
  readonly user: User;
  readonly isNew: boolean;
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

/** How a code is sent. */
export interface SendCodeOptions extends Call {
  /** The language of the message: Persian by default. */
  readonly locale?: 'fa' | 'en' | undefined;
}
