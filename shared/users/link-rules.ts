/** Decides on a link, and on a check of a user, by what was read about the person. */
import type { VerifiedBuyer } from '#shared/access-tokens/verify.ts';
import { PROBLEMS, type Problem, problem } from '#shared/problems.ts';
import { usedUp } from '#shared/rate-limits/request-limits.ts';
import type { ItemKey } from '#shared/table/keys.ts';
import type { StoredItem } from '#shared/table/writes.ts';
import type { CheckLimits } from './check-limits.ts';
import type { FoundPerson, LinkHashes } from './read-person.ts';
import type { NewUser } from './schema.ts';
import type { EndedLink } from './user-item.ts';

/** `counts`: it counts as a refused link, since the response tells something about the person or the phone. */
export type Refuse = { readonly next: 'refuse'; readonly problem: Problem; readonly counts: boolean };

type LinkDecision =
  | Refuse
  /** The person is linked. */
  | { readonly next: 'show'; readonly userId: string }
  /** `lifted`: the buyer ended an earlier link, and has signed in at the seller since. */
  | { readonly next: 'check'; readonly buyer: ItemKey; readonly lifted: EndedLink | undefined };

type CheckDecision =
  | Refuse
  /** The same data was checked a moment ago. */
  | { readonly next: 'show'; readonly user: StoredItem }
  | { readonly next: 'check'; readonly buyer: ItemKey };

interface Asked {
  readonly body: Pick<NewUser, 'birth_date' | 'phone'>;
  readonly hashes: LinkHashes;
  readonly limits: CheckLimits;
  /** The registries have confirmed the person in this request. The limits of checks then no longer apply. */
  readonly isChecked: boolean;
}

const refuse = (reason: Problem): Refuse => ({ next: 'refuse', problem: reason, counts: false });

const refuseAndCount = (reason: Problem): Refuse => ({ next: 'refuse', problem: reason, counts: true });

/** The limits of the person precede the buyer: their problem is the same for every phone. */
export const decideLink = (
  found: FoundPerson,
  { body, hashes, limits, isChecked, signedIn }: Asked & { readonly signedIn: VerifiedBuyer | undefined },
): LinkDecision => {
  const { linked, ended, buyer } = found;
  const overCalls = isChecked ? undefined : usedUp(limits.paidChecks, found.limitStates);
  if (overCalls !== undefined) return refuse(overCalls);
  if (linked !== undefined) {
    const isSame = hashes.phone.isOf(linked.phoneHash) && linked.birthDay === body.birth_date.isoDay;
    if (isSame) return { next: 'show', userId: linked.userId };
    return refuseAndCount(problem('user_conflict', { user_id: linked.userId }));
  }
  const overPerson = isChecked ? undefined : usedUp(limits.ofPerson, found.limitStates);
  if (overPerson !== undefined) return refuse(overPerson);
  const isLifted = signedIn?.phone === body.phone && signedIn.authTime > (ended?.endedAt ?? 0);
  if (ended !== undefined && !isLifted) return refuseAndCount(problem('link_refused'));
  if (buyer === undefined) return refuseAndCount(problem('buyer_not_registered'));
  if (found.isExternalIdTaken) return refuseAndCount(problem('external_id_conflict'));
  return { next: 'check', buyer, lifted: ended };
};

/** Within this time after a check, the same data needs no other one: a repeated request pays once, and so do many at once. */
const RECENT_MS = 60_000;

/** The clocks of two machines differ. A time further ahead than that was written by a wrong clock, and counts as old. */
const isRecent = ({ checked_at }: StoredItem, nowMs: number): boolean =>
  Math.abs(nowMs - Date.parse(String(checked_at))) < RECENT_MS;

export const decideCheck = (
  found: FoundPerson,
  { body, hashes, limits, isChecked, nowMs }: Asked & { readonly nowMs: number },
): CheckDecision => {
  const { linked, user, buyer } = found;
  const overCalls = isChecked ? undefined : usedUp(limits.paidChecks, found.limitStates);
  if (overCalls !== undefined) return refuse(overCalls);
  if (user === undefined) return refuse(problem('user_not_found'));
  if (!hashes.person.isOf(user.person_hash))
    return refuseAndCount(problem('user_conflict', { detail: PROBLEMS.user_conflict.otherDetail }));
  const overPerson = isChecked ? undefined : usedUp(limits.ofPerson, found.limitStates);
  if (overPerson !== undefined) return refuse(overPerson);
  if (buyer === undefined) return refuseAndCount(problem('buyer_not_registered'));
  const isSame = hashes.phone.isOf(user.phone_hash) && linked?.birthDay === body.birth_date.isoDay;
  if (isSame && isRecent(user, nowMs)) return { next: 'show', user };
  return { next: 'check', buyer };
};
