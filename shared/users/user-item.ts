import { personKey } from '#shared/table/keys.ts';
import type { StoredItem } from '#shared/table/writes.ts';
import type { User } from './schema.ts';

export const userFrom = (item: StoredItem): User => ({
  id: String(item.id),
  external_id: item.external_id === undefined ? null : String(item.external_id),
  national_id: `******${item.national_id_last_four}`,
  birth_date: String(item.birth_date),
  phone: String(item.phone),
  display_name: String(item.display_name),
  created_at: String(item.created_at),
  checked_at: String(item.checked_at),
});

export interface Person {
  readonly userId: string;
  readonly phoneHash: string;
  /** An ISO date. */
  readonly birthDay: string;
}

/** A link that the buyer ended. The seller cannot link the person again until a sign-in after `endedAt` lifts this. */
export interface EndedLink {
  /** Epoch seconds. */
  readonly endedAt: number;
  readonly personHash: string;
  readonly phoneHash: string;
}

export const endedLinkFrom = (item: StoredItem): EndedLink => ({
  endedAt: Number(item.ended_at),
  personHash: String(item.pk).slice(String(item.pk).lastIndexOf('#') + 1),
  phoneHash: String(item.phone_hash),
});

/** The person item of a user item. `birth_day`: an ISO date. */
export const personItem = (sellerId: string, user: StoredItem, birth_day: string): StoredItem => ({
  ...personKey(sellerId, String(user.person_hash)),
  ordinal: Number(user.sk),
  user_id: user.id,
  phone_hash: user.phone_hash,
  birth_day,
});

export const personFrom = (item: StoredItem): Person => ({
  userId: String(item.user_id),
  phoneHash: String(item.phone_hash),
  birthDay: String(item.birth_day),
});
