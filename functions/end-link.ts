import { type PhoneLink, phoneLinkReader } from '#shared/buyers/links.ts';
import { buyerRoutes } from '#shared/buyers/routes.ts';
import { buyerEndpoint } from '#shared/http/buyer-endpoint.ts';
import type { Handle } from '#shared/http/endpoint.ts';
import type { KeyedParts } from '#shared/http/keyed-endpoint.ts';
import { currentDeadline } from '#shared/request-context.ts';
import { hashesFromEnv } from '#shared/secrets/keyed-hashes.ts';
import { Conflict, retryConflicts } from '#shared/table/retry-conflicts.ts';
import { userRemover } from '#shared/users/remove-user.ts';

const route = buyerRoutes['end-link'];
type Deps = ReturnType<typeof build>;

/** An id that names no link of the token's phone changes nothing. */
export const handle: Handle<typeof route, Deps> = async ({ path, buyer: { phone } }, deps) => {
  const { readLinks, users, hashes, clock } = deps;
  const phoneHash = await hashes.phone(phone);
  return retryConflicts(currentDeadline(), async () => {
    const link = await linkWithId(path.id, phone, { links: await readLinks(phoneHash), hashes });
    if (link === undefined) return { status: 204 };
    const result = await users.removeUser(link.sellerId, String(link.user.id), {
      removedAt: new Date(clock()).toISOString(),
      reason: 'buyer',
      ended: { phone: phoneHash, clock },
    });
    // Otherwise the seller removed the user meanwhile, and may have linked the person again.
    return result === 'removed' ? { status: 204 } : new Conflict();
  });
};

const linkWithId = async (
  id: string,
  phone: string,
  { links, hashes }: { readonly links: readonly PhoneLink[] } & Pick<Deps, 'hashes'>,
): Promise<PhoneLink | undefined> => {
  for (const link of links) {
    const linkId = await hashes.linkId(link.sellerId, String(link.user.person_hash), phone);
    if (linkId.isOf(id)) return link;
  }
  return undefined;
};

export const build = ({ table, clock }: KeyedParts) => ({
  clock,
  readLinks: phoneLinkReader(table),
  users: { removeUser: userRemover(table) },
  hashes: hashesFromEnv(),
});

export const handler = buyerEndpoint(route, build, handle);
