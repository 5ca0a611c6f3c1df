import { type PhoneLink, phoneLinkReader } from '#shared/buyers/links.ts';
import { buyerRoutes } from '#shared/buyers/routes.ts';
import { buyerEndpoint } from '#shared/http/buyer-endpoint.ts';
import type { Handle, Request } from '#shared/http/endpoint.ts';
import type { KeyedParts } from '#shared/http/keyed-endpoint.ts';
import { phoneLimit } from '#shared/rate-limits/person-limits.ts';
import { consume, refund } from '#shared/rate-limits/request-limits.ts';
import { hashesFromEnv, type KeyedHashes } from '#shared/secrets/keyed-hashes.ts';
import { parseBirthDate } from '#shared/values/birth-date.ts';

const route = buyerRoutes['find-links'];

type Claim = Request<typeof route>['body'];

/**
 * Whoever names a person that no link of the phone has gets the empty list, the new owner of a number like a stranger. A search is counted
 * before anything is compared, so that parallel ones gain nothing, and refunded if it matches or its links cannot be read.
 */
export const handle: Handle<typeof route, ReturnType<typeof build>> = async (
  { body, buyer },
  { readLinks, hashes, rateLimiter, clock },
) => {
  const { phone } = buyer;
  const phoneHash = await hashes.phone(phone);
  const counted = await consume(rateLimiter, [phoneLimit('searches', phoneHash)], clock());
  const links = await readLinks(phoneHash).catch(async (error: unknown) => {
    await refund(rateLimiter, counted);
    throw error;
  });
  const areOwn = await Promise.all(links.map((link) => isOf(link, body, hashes)));
  const own = links.filter((_, index) => areOwn[index]);
  if (own.length > 0) await refund(rateLimiter, counted);
  const shown = own.map(async ({ sellerId, sellerName, user }) => ({
    id: (await hashes.linkId(sellerId, String(user.person_hash), phone)).current,
    seller: { id: sellerId, name: sellerName },
    display_name: String(user.display_name),
    linked_at: String(user.created_at),
  }));
  return { status: 200, body: { data: await Promise.all(shown) } };
};

/** Whether the user of a link is the person that a buyer names. */
const isOf = async ({ sellerId, user }: PhoneLink, claim: Claim, hashes: KeyedHashes): Promise<boolean> => {
  const person = await hashes.person(sellerId, claim.national_id);
  const birthDay = parseBirthDate(String(user.birth_date))?.isoDay;
  return person.isOf(user.person_hash) && birthDay === claim.birth_date.isoDay;
};

export const build = ({ table, rateLimiter, clock }: KeyedParts) => ({
  rateLimiter,
  clock,
  readLinks: phoneLinkReader(table),
  hashes: hashesFromEnv(),
});

export const handler = buyerEndpoint(route, build, handle);
