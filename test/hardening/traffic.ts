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
  const states: PersonState[] = Array.from({ length: people }, (_, index) => ({
    person: personNumber(firstPerson + index),
    unsettled: false,
    removed: [],
  }));
  const send = async (method: ApiCall['method'], path: string, body?: object) => {
    const key = seller.nextKey();
    used.keys.add(key);
    const reply = await call(deployment.baseUrl(), { method, path, key, ...(body ? { body } : {}) }, report);
    report.expect('a valid key never gets 401', reply?.status !== 401, () => `${method} ${path}`);
    return reply;
  };
  const isIndefinite = (reply: Reply | undefined): boolean => reply === undefined || reply.status >= 500;
  const isDefinite = (reply: Reply | undefined): reply is Reply =>
    reply !== undefined && reply.status < 500 && reply.status !== 429;

  const create = async (state: PersonState): Promise<boolean> => {
    used.nationalIds.add(state.person.national_id);
    used.phones.add(state.person.phone);
    const reply = await send('POST', '/v1/users', state.person);
    state.unsettled ||= isIndefinite(reply);
    if (!isDefinite(reply)) return false;
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
    return true;
  };

  const remove = async (state: PersonState): Promise<boolean> => {
    const id = state.id as string;
    const reply = await send('DELETE', `/v1/users/${id}`);
    state.unsettled ||= isIndefinite(reply);
    if (!isDefinite(reply)) return false;
    report.expect('a removal of a linked user returns 204', reply.status === 204, () => `${reply.status}`);
    state.removed.push(id);
    state.id = undefined;
    return true;
  };

  const read = async (state: PersonState): Promise<boolean> => {
    const id = state.id ?? state.removed.at(-1);
    const reply = await send('GET', `/v1/users/${id}`);
    if (!isDefinite(reply)) return false;
    const expected = state.id === undefined ? 404 : 200;
    report.expect(
      'reading by id agrees with the model',
      reply.status === expected,
      () => `${id} ${reply.status}`,
    );
    return true;
  };

  const find = async (state: PersonState): Promise<boolean> => {
    const reply = await send('GET', `/v1/users?phone=${encodeURIComponent(state.person.phone)}`);
    if (!isDefinite(reply)) return false;
    const ids = reply.json.data?.map(({ id }: { id: string }) => id);
    const expected = state.id === undefined ? [] : [state.id];
    report.expect(
      'finding by phone agrees with the model',
      JSON.stringify(ids) === JSON.stringify(expected) && reply.json.total === expected.length,
      () => `expected ${expected}, got ${reply.status} ${ids}`,
    );
    return true;
  };

  const conflict = async (state: PersonState): Promise<boolean> => {
    const reply = await send('POST', '/v1/users', { ...state.person, birth_date: '1349/1/1' });
    if (!isDefinite(reply)) return false;
    report.expect('other data for a linked person get 409', reply.status === 409, () => `${reply.status}`);
    return true;
  };

  const list = async (): Promise<boolean> => {
    const reply = await send(
      'GET',
      `/v1/users?page=${1 + random.integer(3)}&page_size=${1 + random.integer(100)}`,
    );
    if (!isDefinite(reply)) return false;
    report.expect('a page can be read', reply.status === 200, () => `${reply.status}`);
    return true;
  };

  /** The operations whose response the model predicts: after a change without a definite response only another link. */
  const operationsOn = ({ id, unsettled, removed }: PersonState) => {
    if (unsettled) return [create];
    if (id !== undefined) return [create, create, create, remove, read, find, conflict];
    return removed.length > 0 ? [create, create, create, read, find] : [create, create, create, find];
  };

  return {
    /** Makes one random operation. Returns whether it got a response that the model can judge. */
    step(): Promise<boolean> {
      const state = random.pick(states);
      const operation = random.chance(0.05) ? list : random.pick(operationsOn(state));
      return operation(state);
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
    const reply = await call(baseUrl(), { method: 'GET', path, key: seller.nextKey() }, report);
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
