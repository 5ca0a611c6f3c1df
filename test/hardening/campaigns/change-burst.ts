import { isDeepStrictEqual } from 'node:util';
import { redirectLog } from '#shared/log.ts';
import { Problem } from '#shared/problems.ts';
import type { Table } from '#shared/table/client.ts';
import { createSeller, itemsOf, linked, linkOf } from '#test/shared/users/linking.ts';
import { userStore } from '#test/shared/users/user-store.ts';
import { startEmbeddedTable } from '#test/table/embedded-table.ts';
import { interceptedTable } from '#test/table/intercepted-table.ts';
import type { Campaign } from './campaign.ts';
import { functionOn, RIGHT } from './code-timing.ts';

const SELLER = 'sel_burst';
const OTHER_SELLER = 'sel_other';
const PEOPLE = 400;
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

/**
 * Links, then corrections and removals of one seller, all at once: each is made, at most after some 503, and the events agree with the users. Another
 * seller meanwhile needs as many calls as alone: none is repeated.
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
    const made = async <Result>(change: () => Promise<Result>): Promise<Result | undefined> => {
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
    const people = Array.from({ length: Math.ceil(PEOPLE * scale) }, (_, index) => `burst-${index}`);
    const links = await Promise.all(people.map((name) => made(() => store.link(linkOf(SELLER, name)))));
    const at = new Date().toISOString();
    let isOver = false;
    const changes = Promise.all(
      links.map((link, index) => {
        if (!link?.written) return undefined;
        const { id } = link.value;
        const options = { removedAt: at, updatedAt: at, reason: 'seller' } as const;
        const update = { display_name: `corrected ${index}` };
        return made<unknown>(() =>
          index % 2 === 0
            ? store.removeUser(SELLER, id, options)
            : store.updateUser(SELLER, id, { ...options, update }),
        );
      }),
    ).finally(() => {
      isOver = true;
    });
    for (let turn = 0; turn === 0 || !isOver; turn += 1) {
      const beside = await callsOfAnother(table, `beside ${turn}`);
      const isSame = isDeepStrictEqual(beside, alone);
      report.expect('burst: another seller repeats no call', isSame, () => `${beside} / ${alone}`);
    }
    await changes;
    const events = (await itemsOf(table, `EVENTS#${SELLER}`)).toSorted((a, b) => Number(a.sk) - Number(b.sk));
    const isWhole = events.every(({ sk }, index) => Number(sk) === index + 1);
    report.expect('burst: the events have no gap', isWhole, () => `${events.length}`);
    const linked = new Set<unknown>();
    for (const { type, user_id } of events) {
      if (type === 'user.linked') linked.add(user_id);
      if (type === 'user.removed') linked.delete(user_id);
    }
    const { users } = await store.listPage(SELLER, 1, PEOPLE);
    const doAgree = users.length === linked.size && users.every(({ id }) => linked.has(id));
    report.expect('burst: the events agree with the users', doAgree, () => `${users.length} ${linked.size}`);
    await table.stop();
    restoreLog();
  },
};
