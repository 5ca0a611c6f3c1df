import { Problem } from '#shared/problems.ts';
import { createSeller, itemsOf, linkOf } from '#test/shared/users/linking.ts';
import { userStore } from '#test/shared/users/user-store.ts';
import { startEmbeddedTable } from '#test/table/embedded-table.ts';
import type { Campaign } from './campaign.ts';

const SELLER = 'sel_burst';
const PEOPLE = 100;
const DEADLINE_MS = 5000;

/** Links, then corrections and removals of one seller, all at once: each is made or answers 503, and the events agree with the users. */
export const changeBurst: Campaign = {
  name: 'burst of changes without a queue',
  async run({ report, scale }) {
    const table = await startEmbeddedTable();
    const store = userStore(table);
    await createSeller(table, SELLER);
    const made = async <Result>(change: Promise<Result>): Promise<Result | undefined> => {
      const result = await change.catch((error: unknown) => error);
      const isBusy = result instanceof Problem && result.code === 'service_unavailable';
      report.operation('changes of a burst', !isBusy);
      const isRight = isBusy || !(result instanceof Error);
      report.expect('burst: a change is made or answers 503', isRight, () => String(result));
      return result instanceof Error ? undefined : (result as Result);
    };
    const people = Array.from({ length: Math.ceil(PEOPLE * scale) }, (_, index) => `burst-${index}`);
    const deadlineMs = () => performance.now() + DEADLINE_MS;
    const links = await Promise.all(
      people.map((name) => made(store.link(linkOf(SELLER, name), deadlineMs()))),
    );
    const at = new Date().toISOString();
    await Promise.all(
      links.map((link, index) => {
        if (link === undefined || link === 'outdated') return undefined;
        const { id } = link;
        const options = { removedAt: at, updatedAt: at, reason: 'seller', deadlineMs: deadlineMs() } as const;
        const update = { display_name: `corrected ${index}` };
        return made<unknown>(
          index % 2 === 0
            ? store.removeUser(SELLER, id, options)
            : store.updateUser(SELLER, id, { ...options, update }),
        );
      }),
    );
    const events = (await itemsOf(table, `EVENTS#${SELLER}`)).toSorted((a, b) => Number(a.sk) - Number(b.sk));
    const isWhole = events.every(({ sk }, index) => Number(sk) === index + 1);
    report.expect('burst: the events have no gap', isWhole, () => `${events.length}`);
    const linked = new Set<unknown>();
    for (const { type, user_id } of events) {
      if (type === 'user.linked') linked.add(user_id);
      if (type === 'user.removed') linked.delete(user_id);
    }
    const { users } = await store.listPage(SELLER, 1, 100);
    const doAgree = users.length === linked.size && users.every(({ id }) => linked.has(id));
    report.expect('burst: the events agree with the users', doAgree, () => `${users.length} ${linked.size}`);
    await table.stop();
  },
};
