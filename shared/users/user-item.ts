import type { StoredItem } from '#shared/table/writes.ts';

/** A linked user. Of the national id, only the last four digits are stored. */
export interface User {
  readonly id: string;
  readonly nationalIdLastFour: string;
  readonly birthDate: string;
  readonly phone: string;
  readonly displayName: string;
  readonly createdAt: string;
}

/** The record that a seller has linked a person. It makes a link unique and its repetition idempotent. */
export interface Person {
  readonly ordinal: number;
  readonly userId: string;
  readonly phoneHash: string;
  /** The day of birth as an ISO date. */
  readonly birthDay: string;
}

/** The attributes of a user that the user item and the phone link share. */
export const userAttributes = (user: User) => ({
  id: user.id,
  national_id_last_four: user.nationalIdLastFour,
  birth_date: user.birthDate,
  phone: user.phone,
  display_name: user.displayName,
  created_at: user.createdAt,
});

/** Returns the user of a user item. */
export const userFromItem = (item: StoredItem): User => ({
  id: String(item.id),
  nationalIdLastFour: String(item.national_id_last_four),
  birthDate: String(item.birth_date),
  phone: String(item.phone),
  displayName: String(item.display_name),
  createdAt: String(item.created_at),
});

/** Returns the person of a person item. */
export const personFromItem = (item: StoredItem): Person => ({
  ordinal: Number(item.ordinal),
  userId: String(item.user_id),
  phoneHash: String(item.phone_hash),
  birthDay: String(item.birth_day),
});

/** Returns whether an item of the user partition is a tombstone: the user was removed, `id` and `removed_at` remain. */
export const isTombstone = (item: StoredItem): boolean => item.removed_at !== undefined;
