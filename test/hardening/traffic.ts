import { setTimeout as pause } from 'node:timers/promises';
import { type ApiCall, call, isDefinite, isIndefinite } from './api.ts';
import type { CampaignSeller, Deployment } from './deployment.ts';
import { otherPhoneOf } from './people.ts';
import { attempt, expectText, lineOf, newStates, type PersonState, settle } from './person-state.ts';
import type { Random } from './random.ts';
import type { Report } from './report.ts';
import type { Used } from './used.ts';

interface WorkerOptions {
  readonly deployment: Deployment;
  readonly seller: CampaignSeller;
  readonly firstPerson: number;
  readonly people: number;
  readonly random: Random;
  readonly report: Report;
  readonly used: Used;
  /** Default: true. */
  readonly canCorrect?: boolean;
  /** Checks users again with another phone: those of `otherPhoneOf` are registered. Default: false. */
  readonly canCheck?: boolean;
}

/** One client of a seller. It changes people of its own only, so that its model says what each response must be. */
export const newWorker = ({
  deployment,
  seller,
  firstPerson,
  people,
  random,
  report,
  used,
  canCorrect = true,
  canCheck = false,
}: WorkerOptions) => {
  const states = newStates(firstPerson, people);
  const send = async (method: ApiCall['method'], path: string, body?: object) => {
    const key = seller.nextKey();
    used.keys.add(key);
    const reply = await call(deployment.baseUrl(), { method, path, key, ...(body ? { body } : {}) }, report);
    report.expect('a valid key never gets 401', reply?.status !== 401, () => `${method} ${path}`);
    return reply;
  };
  /** When requests were sent that may have begun a check of a person, in milliseconds of the monotonic clock. */
  const begun = new Map(states.map((state) => [state, [] as number[]]));
  const expectLimited = (state: PersonState): void => {
    const inLastMinute = begun.get(state)?.filter((at) => performance.now() - at < 61_000) ?? [];
    const detail = () => `${state.person.display_name} after ${inLastMinute.length}`;
    report.expect('a person is limited only after five checks', inLastMinute.length > 5, detail);
  };
  const create = async (state: PersonState): Promise<boolean> => {
    begun.get(state)?.push(performance.now());
    used.nationalIds.add(state.person.national_id);
    used.phones.add(state.person.phone);
    const external_id = random.chance(0.5) ? random.pick(state.externalIds) : null;
    const sent = { display_name: state.person.display_name, external_id };
    const killsBefore = deployment.databaseKills();
    const reply = await send('POST', '/v1/users', { ...state.person, ...(external_id && { external_id }) });
    // Unlike DynamoDB, a killed database forgets the tokens of its transactions: what this link made it then finds as made before.
    const mayFindItself = deployment.databaseKills() > killsBefore && state.id === undefined;
    if (mayFindItself) attempt(state, sent);
    // A repeated link changes nothing.
    if (isIndefinite(reply)) attempt(state, ...(state.id !== undefined && !state.unsettled ? [] : [sent]));
    if (!isDefinite(reply)) return false;
    const { status, json } = reply;
    const check = 'a 201 or 200 of a link is true exactly once';
    if (!state.unsettled) {
      const isRight = state.id === undefined ? status === 201 : status === 200 && json.id === state.id;
      report.expect(
        check,
        isRight,
        () => `${state.id ?? 'unlinked person'} got ${status} ${json.id ?? json.code}`,
      );
    } else {
      const isKnown = state.id === undefined || json.id === state.id || state.attempted.length > 0;
      const isRight = status === 201 || (status === 200 && isKnown);
      report.expect(check, isRight, () => `unsettled person got ${status} ${json.code}`);
    }
    report.expect('a removed id is never given again', !state.removed.includes(json.id), () => json.id);
    const earlier = json.id === state.id ? [state.text, ...state.attempted] : state.attempted;
    if (status < 300) expectText(report, json, status === 201 ? [sent] : earlier);
    settle(state, json);
    return true;
  };

  /** Corrects the name, the external id or both. */
  const correct = async (state: PersonState): Promise<boolean> => {
    const name = { display_name: `${state.person.display_name} ${random.integer(1000)}` };
    const label = { external_id: random.pick([...state.externalIds, null]) };
    const changes = random.pick([name, label, { ...name, ...label }]);
    const sent = { ...state.text, ...changes };
    const reply = await send('PATCH', `/v1/users/${state.id}`, changes);
    if (isIndefinite(reply)) attempt(state, sent);
    if (!isDefinite(reply)) return false;
    report.expect('a correction of a linked user returns 200', reply.status === 200, () => `${reply.status}`);
    expectText(report, reply.json, [sent]);
    settle(state, reply.json);
    return true;
  };

  /**
   * Checks the user with its other phone, until the response is definite: a check is safe to repeat. Five checks of a person begin in a clock
   * minute, links included: then the next one waits as its response says.
   */
  const check = async (state: PersonState): Promise<boolean> => {
    const { national_id, birth_date } = state.person;
    const phone = otherPhoneOf(state.person);
    used.phones.add(phone);
    for (let attempts = 0; attempts < 20; attempts += 1) {
      begun.get(state)?.push(performance.now());
      const reply = await send('POST', `/v1/users/${state.id}/checks`, { national_id, birth_date, phone });
      if (reply?.status === 429) {
        expectLimited(state);
        await pause(Number(reply.headers.get('retry-after')) * 1000);
      }
      if (!isDefinite(reply)) continue;
      const isRight = reply.status === 200 && reply.json.id === state.id && reply.json.phone === phone;
      report.expect('a check moves a linked user to the phone', isRight, () => `${state.id} ${reply.status}`);
      expectText(report, reply.json, [state.text]);
      state.person = { ...state.person, phone };
      return true;
    }
    report.violated('a repeated check settles', String(state.id));
    return false;
  };

  /** Asks for the external id of another user of the seller. */
  const takeExternalId = async (state: PersonState): Promise<boolean> => {
    const other = states.find(
      ({ id, unsettled, text }) => id !== undefined && id !== state.id && !unsettled && text.external_id,
    );
    if (other === undefined) return read(state);
    const { external_id } = other.text;
    const reply = await send('PATCH', `/v1/users/${state.id}`, { external_id });
    state.unsettled ||= isIndefinite(reply);
    if (!isDefinite(reply)) return false;
    report.expect('the external id of another user gets 409', reply.status === 409, () => `${reply.status}`);
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
    if (reply.status === 200) expectText(report, reply.json, [state.text]);
    return true;
  };

  /** Finds the user by a query, which must return it if `isExpected`, else nobody. */
  const find = async (state: PersonState, query: string, isExpected: boolean): Promise<boolean> => {
    const reply = await send('GET', `/v1/users?${query}`);
    if (!isDefinite(reply)) return false;
    const found = reply.json.data?.map(lineOf);
    const expected = isExpected ? [lineOf({ id: String(state.id), ...state.text })] : [];
    report.expect(
      `finding by ${query.split('=')[0]} agrees with the model`,
      JSON.stringify(found) === JSON.stringify(expected) && reply.json.total === expected.length,
      () => `expected ${expected}, got ${reply.status} ${found}`,
    );
    return true;
  };
  const findByPhone = (state: PersonState) =>
    find(state, `phone=${encodeURIComponent(state.person.phone)}`, state.id !== undefined);
  const findByExternalId = (state: PersonState) => {
    const wanted = random.pick(state.externalIds);
    return find(state, `external_id=${wanted}`, state.id !== undefined && state.text.external_id === wanted);
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
    const reads = [read, findByPhone, findByExternalId];
    if (id !== undefined) {
      const corrections = canCorrect ? [correct, correct, takeExternalId] : [];
      if (canCheck) corrections.push(check, check);
      return [create, create, create, remove, conflict, ...corrections, ...reads];
    }
    return [create, create, create, ...(removed.length > 0 ? reads : [findByPhone, findByExternalId])];
  };

  return {
    /** Makes one random operation. Returns whether it got a response that the model can check. */
    step(): Promise<boolean> {
      const state = random.pick(states);
      const operation = random.chance(0.05) ? list : random.pick(operationsOn(state));
      return operation(state);
    },
    /** Repeats each change that got no definite response until it gets one. */
    async settle(): Promise<void> {
      for (const state of states) {
        // Longer than a circuit stays open.
        for (let attempt = 0; state.unsettled && attempt < 20; attempt += 1) {
          if (attempt > 0) await pause(1000);
          await create(state);
        }
        report.expect('a repeated request settles', !state.unsettled, () => state.person.display_name);
      }
    },
    /** The users that the seller must have of this worker's people, as their pages must show them. */
    linkedUsers: (): string[] =>
      states.flatMap(({ id, text }) => (id === undefined ? [] : [lineOf({ id, ...text })])),
  };
};

export type Worker = ReturnType<typeof newWorker>;
