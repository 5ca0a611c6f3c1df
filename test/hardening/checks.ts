import { eventsPartition, sellerKey, usersPartition } from '#shared/table/keys.ts';
import { getItem, queryAll } from '#shared/table/reads.ts';
import type { StoredItem } from '#shared/table/writes.ts';
import { call } from './api.ts';
import type { CampaignSeller, Deployment } from './deployment.ts';
import { lineOf, type SellerText } from './person-state.ts';
import type { Report } from './report.ts';
import { openTableOf } from './table.ts';
import type { Worker } from './traffic.ts';

const PAGE_SIZE = 25;

type ListedUser = SellerText & { readonly id: string };

/** Reads the users that were linked after the first one, by the id of the last one that was read. */
const usersAfterFirst = async (
  baseUrl: string,
  first: string | undefined,
  seller: CampaignSeller,
  report: Report,
): Promise<string[]> => {
  const users: string[] = [];
  for (let after = first; after; ) {
    const path = `/v1/users?after=${after}&page_size=${PAGE_SIZE}`;
    const reply = await call(baseUrl, { method: 'GET', path, key: seller.nextKey() }, report);
    users.push(...(reply?.json?.data ?? []).map(lineOf));
    after = reply?.json?.next_after;
  }
  return users;
};

/** Checks every page of a seller against the users of its workers. */
export const checkPages = async (
  { baseUrl }: Deployment,
  seller: CampaignSeller,
  workers: readonly Worker[],
  report: Report,
): Promise<void> => {
  const expected = workers.flatMap((worker) => worker.linkedUsers()).sort();
  const listed: ListedUser[] = [];
  let [page, pages, total] = [1, 1, 0];
  for (; page <= pages; page += 1) {
    const path = `/v1/users?page=${page}&page_size=${PAGE_SIZE}`;
    const reply = await call(baseUrl(), { method: 'GET', path, key: seller.nextKey() }, report);
    if (reply?.status !== 200) return report.violated('the pages can be read at the end', `${reply?.status}`);
    const { data, total_pages: totalPages } = reply.json;
    listed.push(...data);
    [pages, total] = [totalPages, reply.json.total];
    report.expect(
      'every page but the last is full',
      page >= pages || data.length === PAGE_SIZE,
      () => `page ${page} of ${pages} has ${data.length} users`,
    );
  }
  report.expect(
    'totals agree with the model',
    total === expected.length && pages === Math.ceil(total / PAGE_SIZE),
    () => `${total} on ${pages} pages for ${expected.length}`,
  );
  report.expect(
    'the pages hold exactly the acknowledged users, with their names and external ids',
    JSON.stringify(listed.map(lineOf).sort()) === JSON.stringify(expected),
    () => `listed ${listed.map(lineOf)}, expected ${expected}`,
  );
  const following = await usersAfterFirst(baseUrl(), listed[0]?.id, seller, report);
  report.expect(
    'the users after the first one are those of the pages',
    JSON.stringify(following) === JSON.stringify(listed.slice(1).map(lineOf)),
    () => `after the first ${following}, on pages ${listed.slice(1).map(lineOf)}`,
  );
  report.expect('the pages are in the order of linking', inOrder(listed), () => seller.id);
};

/** Ids hold the ordinal after `usr_`, so ids in the order of linking are in the order of their first characters. */
const inOrder = (users: readonly ListedUser[]): boolean =>
  users.every(({ id }, index) => index === 0 || String(users[index - 1]?.id).slice(4, 11) < id.slice(4, 11));

/** Replays events from the first. Returns the users that they leave, each with the number of its last event, and what cannot be. */
const replay = (events: readonly StoredItem[]) => {
  const users = new Map<string, number>();
  const faults: string[] = [];
  for (const [index, event] of events.entries()) {
    const { type } = event;
    const [id, sequence] = [String(event.user_id), Number(event.sk)];
    if (sequence !== index + 1) faults.push(`event ${sequence} stands at ${index + 1}`);
    if (users.has(id) === (type === 'user.linked')) faults.push(`event ${sequence}: ${type} of ${id}`);
    if (type === 'user.removed') users.delete(id);
    else users.set(id, sequence);
  }
  return { users, faults };
};

/** Checks the log of events of each seller against its users, in the table. */
export const checkEvents = async (
  deployment: Deployment,
  sellers: readonly CampaignSeller[],
  report: Report,
): Promise<void> => {
  const table = await openTableOf(deployment);
  for (const { id } of sellers) {
    const [seller, events, items] = await Promise.all([
      getItem(table, sellerKey(id)),
      queryAll(table, { pk: eventsPartition(id) }),
      queryAll(table, { pk: usersPartition(id) }),
    ]);
    const { users, faults } = replay(events);
    report.expect(
      'the events of a seller are 1 to n without a gap, each possible after those before it',
      faults.length === 0 && seller?.event_count === events.length,
      () => `${seller?.event_count} counted, ${events.length} stored: ${faults}`,
    );
    const stored = items.map((user) => `${user.id} ${user.last_event}`);
    const replayed = [...users].map(([userId, sequence]) => `${userId} ${sequence}`);
    report.expect(
      'the events, replayed from the first, give exactly the users of the table',
      JSON.stringify(stored.sort()) === JSON.stringify(replayed.sort()),
      () => `stored ${stored}, replayed ${replayed}`,
    );
  }
  table.client.destroy();
};
