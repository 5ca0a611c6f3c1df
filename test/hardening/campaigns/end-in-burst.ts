import { setTimeout as pause } from 'node:timers/promises';
import type { Context } from 'aws-lambda';
import { handle as createUser } from '#functions/create-user.ts';
import { handle as endLink } from '#functions/end-link.ts';
import { phoneLinkReader } from '#shared/buyers/links.ts';
import { buyerStore } from '#shared/buyers/store.ts';
import { redirectLog } from '#shared/log.ts';
import { routes } from '#shared/routes.ts';
import { bearerOf } from '#test/fakes/buyer-tokens.ts';
import { createUserDepsOn, testHashes } from '#test/functions/create-user-deps.ts';
import { keyedHandler } from '#test/functions/keyed-handler.ts';
import { gatewayEvent } from '#test/lib/gateway-event.ts';
import { codesOn } from '#test/shared/one-time-codes/codes-on.ts';
import { createSeller } from '#test/shared/users/linking.ts';
import { userStore } from '#test/shared/users/user-store.ts';
import { startEmbeddedTable } from '#test/table/embedded-table.ts';
import { personNumber, type TestPerson } from '../people.ts';
import type { Report } from '../report.ts';
import type { Campaign } from './campaign.ts';

const FIRST_PERSON = 97_000;
const SELLER = 'sel_test';
const ENDS = 10;
/** Into another second than the one in which the end begins. */
const REDEEMED_AFTER_MS = 1100;
const BURST_MS = 2000;
const CORRECTIONS_AT_ONCE = 8;
const DEADLINE_MS = 20_000;

/** The functions that link and end, and the corrections of the seller, on a table. */
const openOn = async () => {
  const table = await startEmbeddedTable();
  await createSeller(table, SELLER);
  const matched = async () => 'matched' as const;
  const identityRegistry = { checkIdentity: matched, checkPhoneOwnership: matched };
  const deps = createUserDepsOn(table, { clock: Date.now, identityRegistry });
  const create = keyedHandler(routes['create-user'], createUser, deps);
  const users = userStore(table);
  return {
    table,
    async link(body: TestPerson, headers: Readonly<Record<string, string>> = {}) {
      const context = { getRemainingTimeInMillis: () => DEADLINE_MS } as Context;
      const { statusCode, body: text } = await create(
        gatewayEvent(routes['create-user'], { body, headers }),
        context,
      );
      return { statusCode, id: String(JSON.parse(text).id) };
    },
    async end({ national_id, phone }: TestPerson): Promise<void> {
      const { current: personHash } = await testHashes.person(SELLER, national_id);
      const { current: id } = await testHashes.linkId(SELLER, personHash, phone);
      const request = { path: { id }, buyer: { phone, authTime: 0 } };
      await endLink(request as Parameters<typeof endLink>[0], {
        readLinks: phoneLinkReader(table),
        users,
        hashes: testHashes,
        clock: Date.now,
      });
    },
    correct: (id: string) =>
      users.updateUser(SELLER, id, {
        update: { display_name: 'Changed' },
        updatedAt: new Date().toISOString(),
      }),
  };
};

/**
 * A burst of corrections delays an end, and meanwhile the code is redeemed that the buyer had typed before. That sign-in must not lift the
 * end.
 */
const endInABurst = async (service: Awaited<ReturnType<typeof openOn>>, report: Report, number: number) => {
  const person = personNumber(FIRST_PERSON + number);
  const { current: phoneHash } = await testHashes.phone(person.phone);
  await buyerStore(service.table).register(phoneHash, 'byr_1', new Date().toISOString());
  const { id } = await service.link(person);
  const owner = { phoneHash, audience: SELLER };
  const { store, send } = codesOn(service.table);
  const { code } = await send(owner, 'typed before the end', Math.floor(Date.now() / 1000));
  const endsAtMs = performance.now() + BURST_MS;
  const correctInTurn = async () => {
    while (performance.now() < endsAtMs) await service.correct(id);
  };
  const redeem = async () => {
    await pause(REDEEMED_AFTER_MS);
    const now = Math.floor(Date.now() / 1000);
    return (await store.redeem(owner, code.mac, { now })) ? now : undefined;
  };
  const [redeemedAt] = await Promise.all([
    redeem(),
    service.end(person),
    ...Array.from({ length: CORRECTIONS_AT_ONCE }, () => correctInTurn().catch(() => {})),
  ]);
  const token = redeemedAt === undefined ? {} : await bearerOf(person.phone, SELLER, redeemedAt);
  const { statusCode } = await service.link(person, token);
  report.expect(
    'end in a burst: a code that was sent before the end does not lift it',
    statusCode === 403,
    () => `${statusCode} ${redeemedAt}`,
  );
};

/** The attacker's code that lifts an end, where a burst makes the end take seconds. */
export const endInBurst: Campaign = {
  name: 'end of a link in a burst',
  async run({ report, scale }) {
    const restoreLog = redirectLog(() => {});
    const service = await openOn();
    for (let number = 0; number < Math.ceil(ENDS * scale); number += 1)
      await endInABurst(service, report, number);
    await service.table.stop();
    restoreLog();
  },
};
