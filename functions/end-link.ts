import { buyerLinks } from '#shared/buyers/links.ts';
import { buyerRoutes } from '#shared/buyers/routes.ts';
import { buyerEndpoint } from '#shared/http/buyer-endpoint.ts';
import type { Handle } from '#shared/http/endpoint.ts';
import type { KeyedParts } from '#shared/http/keyed-endpoint.ts';
import { hashesFromEnv } from '#shared/secrets/keyed-hashes.ts';
import { retryUntil } from '#shared/table/backoff.ts';
import { userRemover } from '#shared/users/remove-user.ts';

const route = buyerRoutes['end-link'];

/** An id that names no link of the token's phone changes nothing. */
export const handle: Handle<typeof route, ReturnType<typeof build>> = async (
  { path, buyer: { phone }, deadlineMs },
  { links, users, hashes, clock },
) => {
  const nowMs = clock();
  const phoneHash = await hashes.phone(phone);
  const findUser = async () => {
    const found = await links.readLinks(await links.readPhone(phoneHash), phoneHash);
    for (const { sellerId, user } of found) {
      const id = await hashes.linkId(sellerId, String(user.person_hash), phone);
      if (id.isOf(path.id)) return { sellerId, userId: String(user.id) };
    }
    return undefined;
  };
  const removal = {
    removedAt: new Date(nowMs).toISOString(),
    reason: 'buyer',
    refusedAt: Math.floor(nowMs / 1000),
    deadlineMs,
  } as const;
  // A seller may remove the user meanwhile, and link the person again.
  return retryUntil(deadlineMs, async () => {
    const found = await findUser();
    const result = found && (await users.removeUser(found.sellerId, found.userId, removal));
    return result === undefined || result === 'removed' ? ({ status: 204 } as const) : undefined;
  });
};

export const build = ({ table, clock }: KeyedParts) => ({
  clock,
  links: buyerLinks(table),
  users: { removeUser: userRemover(table) },
  hashes: hashesFromEnv(),
});

export const handler = buyerEndpoint(route, build, handle);
