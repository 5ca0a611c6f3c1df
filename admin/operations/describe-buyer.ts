/** What support sees of a phone: its registration, its one-time codes and its links. */
import type { Administration } from '#admin/administration.ts';
import { adminBuyerStore } from '#admin/stores/buyer-store.ts';
import { timeText } from '#shared/clock.ts';
import { recordFrom } from '#shared/one-time-codes/code-item.ts';
import { MAX_CONSECUTIVE_FAILURES, recentSends, secondsLocked } from '#shared/one-time-codes/rules.ts';
import { phoneLimit } from '#shared/rate-limits/person-limits.ts';
import { countIn, limitKey } from '#shared/rate-limits/rate-limiter.ts';
import type { KeyedHash } from '#shared/secrets/keyed-hashes.ts';
import {
  codesPartition,
  ENDED_LINK_PREFIX,
  phoneLinksPartition,
  sellerOfPhoneLink,
} from '#shared/table/keys.ts';
import { getItem } from '#shared/table/reads.ts';
import type { StoredItem } from '#shared/table/writes.ts';
import { itemsOf } from './buyers.ts';
import { findByPhone } from './users.ts';

/** The time of a lock that only `buyers unlock` ends. */
const UNTIL_UNLOCKED = 'until unlocked';

/** The codes of a phone with one seller. `sends`: in the last 24 hours. `failed_codes`: consecutive ones. `tries`: of the outstanding code. */
const codesOf = (item: StoredItem, now: number) => {
  const record = recordFrom(item);
  const { failures, code } = record;
  const sends = recentSends(record.sends, now);
  const [lastSend, locked] = [sends.at(-1), secondsLocked(record, now)];
  const isOutstanding = code !== undefined && code.expiresAt > now;
  const lockEnd = failures >= MAX_CONSECUTIVE_FAILURES ? UNTIL_UNLOCKED : timeText(now + locked);
  return {
    sends: sends.length,
    last_sent_at: lastSend === undefined ? null : timeText(lastSend),
    failed_codes: failures,
    tries: isOutstanding ? code.tries : null,
    locked_until: locked === 0 ? null : lockEnd,
  };
};

/** What the phone used today of its limits over all sellers. */
const readPhoneUse = async ({ table, clock }: Administration, phone: KeyedHash) => {
  const nowMs = clock();
  const [sms, searches] = [phoneLimit('sms', phone), phoneLimit('searches', phone)];
  // One item holds both counts.
  const item = await getItem(table, limitKey(sms, nowMs));
  return { sms_today: countIn(item, sms, nowMs), searches_today: countIn(item, searches, nowMs) };
};

/** Finds the names of sellers; null of a deleted one, and where no key is required. */
const readNames = async ({ sellers }: Administration, ids: readonly string[]) => {
  const found = await Promise.all([...new Set(ids)].map((id) => sellers.find(id)));
  return (seller_id: string) => ({
    seller_id,
    seller_name: found.find((seller) => seller?.seller_id === seller_id)?.name ?? null,
  });
};

/**
 * Reads what is stored about a phone; undefined if it is nothing. Codes that were sent under an older hash key are void, and left out of
 * `codes`.
 */
export const describeBuyer = async (admin: Administration, phone: KeyedHash) => {
  const { table, clock } = admin;
  const now = Math.floor(clock() / 1000);
  const [buyer, use, codes, links] = await Promise.all([
    adminBuyerStore(table).find(phone),
    readPhoneUse(admin, phone),
    itemsOf(admin, phone.keys(codesPartition)),
    itemsOf(admin, phone.keys(phoneLinksPartition)),
  ]);
  const isUsed = Object.values(use).some((count) => count > 0);
  if (buyer === undefined && !isUsed && codes.length + links.length === 0) return undefined;
  const isEnded = ({ sk }: StoredItem): boolean => String(sk).startsWith(ENDED_LINK_PREFIX);
  const ended = links.filter(isEnded).map(({ sk, ended_at }) => ({
    sellerId: String(sk).split('#')[1] ?? '',
    ended_at: timeText(Number(ended_at)),
  }));
  const linkedBy = links.filter((item) => !isEnded(item)).map(({ sk }) => sellerOfPhoneLink(sk));
  const sent = codes
    .filter(({ pk }) => pk === codesPartition(phone.current))
    .map((item) => ({ sellerId: String(item.sk), ...codesOf(item, now) }));
  const named = await readNames(admin, [...linkedBy, ...[...sent, ...ended].map(({ sellerId }) => sellerId)]);
  const users = await findByPhone(admin, linkedBy, phone);
  return {
    buyer_id: buyer?.buyer_id ?? null,
    registered_at: buyer?.registered_at ?? null,
    ...use,
    codes: sent.map(({ sellerId, ...code }) => ({ ...named(sellerId), ...code })),
    links: users.map(({ seller_id, id, display_name, created_at, checked_at }) => ({
      ...named(seller_id),
      user_id: id,
      display_name,
      created_at,
      checked_at,
    })),
    ended_links: ended.map(({ sellerId, ended_at }) => ({ ...named(sellerId), ended_at })),
  };
};
