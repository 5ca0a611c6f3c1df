import { handle as endLink } from '#functions/end-link.ts';
import { handle as findLinks } from '#functions/find-links.ts';
import { tokenVerifier } from '#shared/access-tokens/verify.ts';
import { phoneLinkReader } from '#shared/buyers/links.ts';
import { routes } from '#shared/routes.ts';
import type { KeyedHashes } from '#shared/secrets/keyed-hashes.ts';
import type { Table } from '#shared/table/client.ts';
import { bearerOf, ISSUER, signer } from '#test/fakes/buyer-tokens.ts';
import { fakeClock } from '#test/fakes/clock.ts';
import type { NewUser } from '#test/generated-people.ts';
import { limiterOn } from '#test/shared/rate-limits/limiter-on.ts';
import { userStore } from '#test/shared/users/user-store.ts';
import { testHashes } from './create-user-deps.ts';
import { functionUnderTest } from './harness.ts';

/** The two functions of the buyer app on a table. */
export const buyerAppOn = (table: Table, hashes: KeyedHashes = testHashes) => {
  const clock = fakeClock('2026-11-21T08:00:00Z');
  const verifyToken = tokenVerifier({ publicKeys: signer.publicKeys, issuers: [ISSUER], clock });
  const own = { clock, verifyToken, hashes, readLinks: phoneLinkReader(table) };
  const rateLimiter = limiterOn(table);
  const find = functionUnderTest(routes['find-links'], findLinks, table, { ...own, rateLimiter });
  const end = functionUnderTest(routes['end-link'], endLink, table, { ...own, users: userStore(table) });
  return {
    clock,
    lines: [find.lines, end.lines],
    call: { 'find-links': find.call, 'end-link': end.call },
    /** Asks for the links of a person, as the owner of its phone or of another one, by its birth date in the other calendar. */
    find: async (person: NewUser, phone = person.phone) =>
      find.call({
        headers: await bearerOf(phone),
        body: { national_id: person.national_id, birth_date: '1991/04/04' },
      }),
    end: async (phone: string, id: string) => end.call({ headers: await bearerOf(phone), path: { id } }),
  };
};
