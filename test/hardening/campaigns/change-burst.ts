import { isDeepStrictEqual } from 'node:util';
import { redirectLog } from '#shared/log.ts';
import { Problem } from '#shared/problems.ts';
import type { Table } from '#shared/table/client.ts';
import { createSeller, itemsOf, linked, linkOf } from '#test/shared/users/linking.ts';
import { userStore } from '#test/shared/users/user-store.ts';
import { startEmbeddedTable } from '#test/table/embedded-table.ts';
import { interceptedTable } from '#test/table/intercepted-table.ts';
import type { Report } from '../report.ts';
import type { Campaign } from './campaign.ts';
import { functionOn, RIGHT } from './code-timing.ts';

type UserStore = ReturnType<typeof userStore>;

const SELLER = 'sel_burst';
const OTHER_SELLER = 'sel_other';
const ROUNDS = 10;
/** Links at once, then corrections and removals. */
const AT_ONCE = 40;
/** A caller repeats a 503. On a busy machine a change of a burst may get several. */
const MAX_TRIES = 10;

/** Another seller links a person, reads it and its page, and signs a phone in. Returns the calls of all, in their order. */
const callsOfAnother = async (table: Table, person: string): Promise<string[]> => {
  const calls: string[] = [];
  const counted = interceptedTable(table, ({ name }, send) => {
    calls.push(name);
    return send();
  });
  const store = userStore(counted);
  const { id } = await linked(store, linkOf(OTHER_SELLER, person));
  await store.getUser(OTHER_SELLER, id);
  await store.listPage(OTHER_SELLER, 1, 100);
  const { verify, store: storeCode } = functionOn(counted);
  await storeCode(person, 0);
  await verify(person, RIGHT);
  return calls;
};

/** Returns what a change returned; undefined if it answered an error. Repeats it after a 503, as a caller does. */
const made = async <Result>(report: Report, change: () => Promise<Result>): Promise<Result | undefined> => {
  let result: unknown;
  let isBusy = true;
  for (let tries = 0; isBusy && tries < MAX_TRIES; tries += 1) {
    result = await change().catch((error: unknown) => error);
    isBusy = result instanceof Problem && result.code === 'service_unavailable';
  }
  report.operation('changes of a burst', !isBusy);
  const isRight = isBusy || !(result instanceof Error);
  report.expect('burst: a change is made or answers 503', isRight, () => String(result));
  return result instanceof Error ? undefined : (result as Result);
};

/** Corrects and removes users of a seller, in turn, all at once. */
const changeAll = async (report: Report, store: UserStore, ids: readonly string[]): Promise<void> => {
  const at = new Date().toISOString();
  await Promise.all(
    ids.map((id, index) =>
      made<unknown>(report, () =>
        index % 2 === 0
          ? store.removeUser(SELLER, id, { removedAt: at, reason: 'seller' })
          : store.updateUser(SELLER, id, {
              updatedAt: at,
              update: { display_name: `corrected ${index}` },
            }),
      ),
    ),
  );
};

/** The events of the seller have no gap, and agree with its users. */
const checkEvents = async (report: Report, store: UserStore, table: Table): Promise<void> => {
  const events = (await itemsOf(table, `EVENTS#${SELLER}`)).toSorted((a, b) => Number(a.sk) - Number(b.sk));
  const isWhole = events.every(({ sk }, index) => Number(sk) === index + 1);
  report.expect('burst: the events have no gap', isWhole, () => `${events.length}`);
  const linkedIds = new Set<unknown>();
  for (const { type, user_id } of events) {
    if (type === 'user.linked') linkedIds.add(user_id);
    if (type === 'user.removed') linkedIds.delete(user_id);
  }
  const { users } = await store.listPage(SELLER, 1, ROUNDS * AT_ONCE);
  const doAgree = users.length === linkedIds.size && users.every(({ id }) => linkedIds.has(id));
  report.expect('burst: the events agree with the users', doAgree, () => `${users.length} ${linkedIds.size}`);
};

/**
 * Links, then corrections and removals of one seller, all at once: each is made, at most after some 503. Another seller meanwhile needs as
 * many calls as alone: none is repeated.
 */
export const changeBurst: Campaign = {
  name: 'burst of changes without a queue',
  async run({ report, scale }) {
    const restoreLog = redirectLog(() => {});
    const table = await startEmbeddedTable();
    const store = userStore(table);
    await createSeller(table, SELLER);
    await createSeller(table, OTHER_SELLER);
    const alone = await callsOfAnother(table, 'alone');
    for (let round = 0; round < Math.ceil(ROUNDS * scale); round += 1) {
      const people = Array.from({ length: AT_ONCE }, (_, index) => `burst-${round}-${index}`);
      const links = await Promise.all(
        people.map((name) => made(report, () => store.link(linkOf(SELLER, name)))),
      );
      const ids = links.flatMap((link) => (link?.written ? [link.value.id] : []));
      let isOver = false;
      const changes = changeAll(report, store, ids).finally(() => {
        isOver = true;
      });
      for (let turn = 0; turn === 0 || !isOver; turn += 1) {
        const beside = await callsOfAnother(table, `beside ${round} ${turn}`);
        const isSame = isDeepStrictEqual(beside, alone);
        report.expect('burst: another seller repeats no call', isSame, () => `${beside} / ${alone}`);
      }
      await changes;
    }
    await checkEvents(report, store, table);
    await table.stop();
    restoreLog();
  },
};
