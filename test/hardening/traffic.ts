import { type ApiCall, call, type Reply } from './api.ts';
import type { CampaignSeller, Deployment } from './deployment.ts';
import { personNumber, type TestPerson } from './people.ts';
import type { Random } from './random.ts';
import type { Report } from './report.ts';
import type { Used } from './used.ts';

/** The state of a person at a seller in the model. `unsettled`: the last change got no definite response. */
interface PersonState {
  readonly person: TestPerson;
  /** The user id, while linked. */
  id?: string | undefined;
  unsettled: boolean;
  /** Ids that were removed. */
  readonly removed: string[];
}

export interface WorkerOptions {
  readonly deployment: Deployment;
  readonly seller: CampaignSeller;
  readonly firstPerson: number;
  readonly people: number;
  readonly random: Random;
  readonly report: Report;
  readonly used: Used;
}

/** One client of a seller, which changes people of its own only, so that it knows what each response must be. */
export const newWorker = ({
  deployment,
  seller,
  firstPerson,
  people,
  random,
  report,
  used,
}: WorkerOptions) => {
  used.keys.add(seller.key);
  const states: PersonState[] = Array.from({ length: people }, (_, index) => ({
    person: personNumber(firstPerson + index),
    unsettled: false,
    removed: [],
  }));
  const send = async (method: ApiCall['method'], path: string, body?: object) => {
    const reply = await call(
      deployment.baseUrl(),
      { method, path, key: seller.key, ...(body ? { body } : {}) },
      report,
    );
    report.expect('a valid key never gets 401', reply?.status !== 401, () => `${method} ${path}`);
    return reply;
  };
  const isIndefinite = (reply: Reply | undefined): boolean => reply === undefined || reply.status >= 500;

  const create = async (state: PersonState): Promise<void> => {
    used.nationalIds.add(state.person.national_id);
    used.phones.add(state.person.phone);
    const reply = await send('POST', '/v1/users', state.person);
    if (reply === undefined || isIndefinite(reply) || reply.status === 429) {
      state.unsettled ||= isIndefinite(reply);
      return;
    }
    const { status, json } = reply;
    const check = 'a 201 or 200 of a link is true exactly once';
    if (state.id !== undefined && !state.unsettled) {
      report.expect(
        check,
        status === 200 && json.id === state.id,
        () => `linked person got ${status} ${json.id}`,
      );
    } else if (state.unsettled) {
      const isKnown = state.id === undefined || json.id === state.id || status === 201;
      report.expect(
        check,
        [200, 201].includes(status) && isKnown,
        () => `unsettled person got ${status} ${json.code}`,
      );
    } else {
      report.expect(check, status === 201, () => `unlinked person got ${status} ${json.code ?? json.id}`);
    }
    report.expect('a removed id is never given again', !state.removed.includes(json.id), () => json.id);
    state.id = json.id;
    state.unsettled = false;
  };

  const remove = async (state: PersonState): Promise<void> => {
    if (state.id === undefined) return;
    const reply = await send('DELETE', `/v1/users/${state.id}`);
    if (reply === undefined || isIndefinite(reply) || reply.status === 429) {
      state.unsettled ||= isIndefinite(reply);
      return;
    }
    report.expect('a removal of a linked user returns 204', reply.status === 204, () => `${reply.status}`);
    state.removed.push(state.id);
    state.id = undefined;
    state.unsettled = false;
  };

  const read = async (state: PersonState): Promise<void> => {
    if (state.unsettled) return;
    const gone = state.removed.at(-1);
    const id = state.id ?? gone;
    if (id === undefined) return;
    const reply = await send('GET', `/v1/users/${id}`);
    if (reply === undefined || isIndefinite(reply) || reply.status === 429) return;
    const expected = state.id === undefined ? 404 : 200;
    report.expect(
      'reading by id agrees with the model',
      reply.status === expected,
      () => `${id} ${reply.status}`,
    );
  };

  const find = async (state: PersonState): Promise<void> => {
    if (state.unsettled) return;
    const reply = await send('GET', `/v1/users?phone=${encodeURIComponent(state.person.phone)}`);
    if (reply === undefined || reply.status !== 200) return;
    const ids = reply.json.data.map(({ id }: { id: string }) => id);
    const expected = state.id === undefined ? [] : [state.id];
    report.expect(
      'finding by phone agrees with the model',
      JSON.stringify(ids) === JSON.stringify(expected) && reply.json.total === expected.length,
      () => `expected ${expected}, got ${ids}`,
    );
  };

  const conflict = async (state: PersonState): Promise<void> => {
    if (state.id === undefined || state.unsettled) return;
    const reply = await send('POST', '/v1/users', { ...state.person, birth_date: '1349/1/1' });
    if (reply === undefined || isIndefinite(reply) || reply.status === 429) return;
    report.expect('other data for a linked person get 409', reply.status === 409, () => `${reply.status}`);
  };

  const list = async (): Promise<void> => {
    await send('GET', `/v1/users?page=${1 + random.integer(3)}&page_size=${1 + random.integer(100)}`);
  };

  const operations = [create, create, create, remove, read, find, conflict];

  return {
    /** Makes one random operation. */
    async step(): Promise<void> {
      if (random.chance(0.05)) return list();
      await random.pick(operations)(random.pick(states));
    },
    /** Repeats each change that got no definite response until it gets one. */
    async settle(): Promise<void> {
      for (const state of states) {
        for (let attempt = 0; state.unsettled && attempt < 20; attempt += 1) await create(state);
        report.expect('a repeated request settles', !state.unsettled, () => state.person.display_name);
      }
    },
    /** The ids that the seller must have of this worker's people. */
    linkedIds: (): string[] => states.flatMap(({ id }) => (id === undefined ? [] : [id])),
  };
};

export type Worker = ReturnType<typeof newWorker>;

/** Checks every page of a seller against the ids of its workers. */
export const checkPages = async (
  { baseUrl }: Deployment,
  seller: CampaignSeller,
  workers: readonly Worker[],
  report: Report,
): Promise<void> => {
  const expected = workers.flatMap((worker) => worker.linkedIds()).sort();
  const listed: string[] = [];
  let [page, pages, total] = [1, 1, 0];
  for (; page <= pages; page += 1) {
    const path = `/v1/users?page=${page}&page_size=100`;
    const reply = await call(baseUrl(), { method: 'GET', path, key: seller.key }, report);
    if (reply?.status !== 200) return report.violated('the pages can be read at the end', `${reply?.status}`);
    listed.push(...reply.json.data.map(({ id }: { id: string }) => id));
    pages = reply.json.total_pages;
    total = reply.json.total;
  }
  report.expect(
    'totals agree with the model',
    total === expected.length,
    () => `${total} for ${expected.length}`,
  );
  report.expect(
    'the pages hold exactly the acknowledged users',
    JSON.stringify([...listed].sort()) === JSON.stringify(expected),
    () => `listed ${listed.length}, expected ${expected.length}`,
  );
  report.expect('the pages are in the order of linking', inOrder(listed), () => seller.id);
};

/** Ids hold the ordinal after `usr_`, so ids in the order of linking are in the order of their first characters. */
const inOrder = (ids: readonly string[]): boolean =>
  ids.every((id, index) => index === 0 || String(ids[index - 1]).slice(4, 11) < id.slice(4, 11));
