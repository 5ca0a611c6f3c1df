import { searchRefusal, withPerson } from '#shared/buyers/link-searches.ts';
import { buyerLinks, type PhoneLink } from '#shared/buyers/links.ts';
import { buyerRoutes } from '#shared/buyers/routes.ts';
import { buyerEndpoint } from '#shared/http/buyer-endpoint.ts';
import type { Handle, Request } from '#shared/http/endpoint.ts';
import type { KeyedParts } from '#shared/http/keyed-endpoint.ts';
import { hashesFromEnv } from '#shared/secrets/keyed-hashes.ts';
import { retryUntil } from '#shared/table/backoff.ts';
import { parseBirthDate } from '#shared/values/birth-date.ts';

const route = buyerRoutes['find-links'];
type Deps = ReturnType<typeof build>;

/**
 * Whoever names a person that no link of the phone has gets the empty list, the new owner of a number like a stranger, and is counted.
 * Starts again if another request counted meanwhile.
 */
export const handle: Handle<typeof route, Deps> = ({ body, buyer, deadlineMs }, deps) =>
  retryUntil(deadlineMs, () => find(body, buyer.phone, deps));

type Claim = Request<typeof route>['body'];

/** One attempt. Undefined: start again. */
const find = async (claim: Claim, phone: string, { links, hashes, clock }: Deps) => {
  const phoneHash = await hashes.phone(phone);
  const found = await links.readPhone(phoneHash);
  const nowMs = clock();
  const refusal = searchRefusal(found.searches, nowMs);
  if (refusal !== undefined) throw refusal;

  const isPerson = async ({ sellerId, user }: PhoneLink): Promise<boolean> => {
    const person = await hashes.person(sellerId, claim.national_id);
    const isBorn = parseBirthDate(String(user.birth_date))?.isoDay === claim.birth_date.isoDay;
    return isBorn && person.isOf(user.person_hash);
  };
  const ofPhone = await links.readLinks(found, phoneHash);
  const areTheirs = await Promise.all(ofPhone.map(isPerson));
  const own = ofPhone.filter((_, index) => areTheirs[index]);
  if (own.length === 0) {
    const claimed = await hashes.claimedPerson(phone, claim.national_id, claim.birth_date.isoDay);
    const next = withPerson(found.searches, claimed, nowMs);
    if (next !== undefined && !(await links.saveSearches(phoneHash.current, found.searches, next)))
      return undefined;
  }
  const shown = own.map(async ({ sellerId, sellerName, user }) => ({
    id: (await hashes.linkId(sellerId, String(user.person_hash), phone)).current,
    seller: { id: sellerId, name: sellerName },
    display_name: String(user.display_name),
    linked_at: String(user.created_at),
  }));
  return { status: 200, body: { data: await Promise.all(shown) } } as const;
};

export const build = ({ table, clock }: KeyedParts) => ({
  clock,
  links: buyerLinks(table),
  hashes: hashesFromEnv(),
});

export const handler = buyerEndpoint(route, build, handle);
