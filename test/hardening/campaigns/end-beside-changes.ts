import { setTimeout as pause } from 'node:timers/promises';
import type { Context } from 'aws-lambda';
import { eraseBuyer } from '#admin/operations/buyers.ts';
import { handle as createUser } from '#functions/create-user.ts';
import { handle as endLink } from '#functions/end-link.ts';
import { localAdministration } from '#local/administration.ts';
import { phoneLinkReader } from '#shared/buyers/links.ts';
import { buyerStore } from '#shared/buyers/store.ts';
import { redirectLog } from '#shared/log.ts';
import { routes } from '#shared/routes.ts';
import { eventsPartition, personKey, phoneLinksPartition, sellerKey } from '#shared/table/keys.ts';
import { getItem, queryAll } from '#shared/table/reads.ts';
import { bearerOf } from '#test/fakes/buyer-tokens.ts';
import { createUserDepsOn, testHashes } from '#test/functions/create-user-deps.ts';
import { keyedHandler } from '#test/functions/keyed-handler.ts';
import { gatewayEvent } from '#test/lib/gateway-event.ts';
import { codesOn } from '#test/shared/one-time-codes/codes-on.ts';
import { createSeller, itemsOf } from '#test/shared/users/linking.ts';
import { userStore } from '#test/shared/users/user-store.ts';
import { startEmbeddedTable } from '#test/table/embedded-table.ts';
import { personNumber, type TestPerson } from '../people.ts';
import type { Report } from '../report.ts';
import type { Campaign } from './campaign.ts';

const RACES = 200;
const FIRST_PERSON = 97_000;
const SELLER = 'sel_test';
/** Each of the changes begins up to so much later. */
const LARGEST_DELAY_MS = 30;
const DEADLINE_MS = 20_000;

/** The service and an admin on a table. */
const openOn = async () => {
  const table = await startEmbeddedTable();
  await createSeller(table, SELLER);
  const clock = Date.now;
  const matched = async () => 'matched' as const;
  const identityRegistry = { checkIdentity: matched, checkPhoneOwnership: matched };
  const deps = createUserDepsOn(table, { clock, identityRegistry });
  const create = keyedHandler(routes['create-user'], createUser, deps);
  const users = userStore(table);
  const now = () => new Date(clock()).toISOString();
  const admin = localAdministration(table, 'local:hardening');
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
        clock,
      });
    },
    correct: (id: string) =>
      users.updateUser(SELLER, id, {
        update: { display_name: 'Changed' },
        updatedAt: now(),
      }),
    remove: (id: string) => users.removeUser(SELLER, id, { removedAt: now(), reason: 'seller' }),
    erase: async (phone: string) => eraseBuyer(admin, await testHashes.phone(phone)),
  };
};

const ENDS_IN_A_BURST = 10;
/** Into another second than the one in which the end begins. */
const REDEEMED_AFTER_MS = 1100;
const BURST_MS = 2000;

/**
 * A burst of corrections delays an end, and meanwhile the code is redeemed that the buyer had typed before. That sign-in must not lift the
 * end.
 */
const endInABurst = async (service: Awaited<ReturnType<typeof openOn>>, report: Report, number: number) => {
  const person = personNumber(FIRST_PERSON + RACES + number);
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
    ...Array.from({ length: 8 }, () => correctInTurn().catch(() => {})),
  ]);
  const token = redeemedAt === undefined ? {} : await bearerOf(person.phone, SELLER, redeemedAt);
  const { statusCode } = await service.link(person, token);
  report.expect(
    'end beside changes: a code that was sent before the end does not lift it',
    statusCode === 403,
    () => `${statusCode} ${redeemedAt}`,
  );
};

/** A buyer ends a link while the seller corrects, removes and links the user, and an admin erases the buyer, at the same moment. */
export const endBesideChanges: Campaign = {
  name: 'end of a link beside changes',
  async run({ report, random, scale }) {
    const restoreLog = redirectLog(() => {});
    const service = await openOn();
    const { table } = service;
    for (let race = 0; race < Math.ceil(RACES * scale); race += 1) {
      const person = personNumber(FIRST_PERSON + race);
      const { current: phoneHash } = await testHashes.phone(person.phone);
      const { current: personHash } = await testHashes.person(SELLER, person.national_id);
      await buyerStore(table).register(phoneHash, 'byr_1', new Date().toISOString());
      const { id } = await service.link(person);
      const before = Number((await getItem(table, sellerKey(SELLER)))?.event_count);
      const [isErased, hasNewSignIn] = [random.chance(0.3), random.chance(0.5)];
      const seconds = Math.floor(Date.now() / 1000);
      const oldToken = await bearerOf(person.phone, SELLER, seconds - 60);
      const newToken = await bearerOf(person.phone, SELLER, seconds + 30);
      const changes: (() => Promise<unknown>)[] = [
        () => service.end(person),
        () => service.correct(id),
        () => service.link(person),
        () => service.link(person, oldToken),
        ...(random.chance(0.5) ? [() => service.remove(id)] : []),
        ...(hasNewSignIn ? [() => service.link(person, newToken)] : []),
        ...(isErased ? [() => service.erase(person.phone)] : []),
      ];
      const results = await Promise.allSettled(
        changes.map((change) => pause(random.integer(LARGEST_DELAY_MS)).then(change)),
      );
      const failed = results.flatMap((result) =>
        result.status === 'rejected' ? [String(result.reason)] : [],
      );
      report.operation('changes beside an end', failed.length === 0);

      const events = (await queryAll(table, { pk: eventsPartition(SELLER) })).slice(before);
      const isEnded = events.some(({ reason }) => reason === 'buyer');
      const item = await getItem(table, personKey(SELLER, personHash));
      const below = await queryAll(table, { pk: phoneLinksPartition(phoneHash) });
      const refusals = below.filter(({ refused_at }) => refused_at !== undefined);
      const told = () => JSON.stringify({ race, isErased, hasNewSignIn, failed, item, below, events });
      report.expect(
        'end beside changes: nobody is linked after an end without a newer sign-in',
        !isEnded || hasNewSignIn || item?.user_id === undefined,
        told,
      );
      report.expect(
        'end beside changes: the person item and the item below the phone hold the same refusal',
        refusals.length <= 1 && refusals[0]?.refused_at === item?.refused_at,
        told,
      );
      report.expect(
        'end beside changes: after an erasure nothing of the buyer is left',
        !isErased || (item === undefined && below.length === 0),
        told,
      );
      report.expect(
        'end beside changes: an end without an erasure or a newer sign-in refuses the next link',
        !isEnded || isErased || hasNewSignIn || (await service.link(person)).statusCode === 403,
        told,
      );
    }
    for (let number = 0; number < Math.ceil(ENDS_IN_A_BURST * scale); number += 1)
      await endInABurst(service, report, number);
    const seller = await getItem(table, sellerKey(SELLER));
    const events = await queryAll(table, { pk: eventsPartition(SELLER) });
    const users = await itemsOf(table, `USERS#${SELLER}`);
    report.expect(
      'end beside changes: the events have no gap, and the counts are those of the users',
      events.every(({ sk }, index) => Number(sk) === index + 1) &&
        seller?.event_count === events.length &&
        Number(seller?.user_count) - Number(seller?.removed_count) === users.length,
      () => JSON.stringify(seller),
    );
    await table.stop();
    restoreLog();
  },
};
