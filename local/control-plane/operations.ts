import { randomBase62 } from '#shared/ids/base62.ts';
import { PLAN_NAMES, usagePlanThrottle } from '#shared/plans.ts';
import type { ControlPlaneState, StoredKey } from './state.ts';

/** The one API and the one stage that there are locally. */
export const LOCAL_API_ID = 'local';
export const LOCAL_STAGE_NAME = 'local';

/** The ids of the usage plans, by plan name. */
export const LOCAL_PLAN_IDS = { free: 'localfree', professional: 'localpro' } as const;

/** API Gateway's own numbers. */
const KEY_VALUE = /^[0-9A-Za-z]{20,128}$/;
const KEY_QUOTA = 10_000;
const DEFAULT_PAGE_SIZE = 25;
const MAX_PAGE_SIZE = 500;
const MAX_USAGE_DAYS = 90;
const DAY_MS = 86_400_000;

/** An error of the control plane, in API Gateway's words: the SDK makes its exception from the name. */
export class ControlPlaneError extends Error {
  readonly status: number;

  constructor(name: string, status: number, message: string) {
    super(message);
    this.name = name;
    this.status = status;
  }
}

export const notFound = (message: string) => new ControlPlaneError('NotFoundException', 404, message);
export const badRequest = (message: string) => new ControlPlaneError('BadRequestException', 400, message);
const conflict = (message: string) => new ControlPlaneError('ConflictException', 409, message);

/** A call as it came: the parts of its path that vary, its query and its body. */
export interface Call {
  readonly ids: readonly string[];
  readonly query: URLSearchParams;
  readonly body: unknown;
}

export interface Reply {
  readonly status: number;
  readonly body?: unknown;
}

/** What the operations work on. */
export interface ControlPlane {
  readonly state: ControlPlaneState;
  readonly now: () => number;
  readonly flush: () => void;
}

type Operation = (plane: ControlPlane, call: Call) => Reply | Promise<Reply>;

const requireKey = ({ state }: ControlPlane, id: string): StoredKey => {
  const key = state.keys.get(id);
  if (key === undefined) throw notFound('Invalid API Key identifier specified');
  return key;
};

const requirePlan = (id: string): string => {
  if (!Object.values<string>(LOCAL_PLAN_IDS).includes(id)) throw notFound('Invalid Usage Plan ID specified');
  return id;
};

const field = (body: unknown, name: string): unknown => (body as Record<string, unknown> | undefined)?.[name];

const keyView = (key: StoredKey, withValue: boolean) => {
  const { value, ...rest } = key;
  return withValue ? { ...rest, value, stageKeys: [] } : { ...rest, stageKeys: [] };
};

/** One page of a list as API Gateway gives it: `item`, and `position` where the next page begins. */
const pageOf = <T>(all: readonly T[], query: URLSearchParams): { item: T[]; position?: string } => {
  const limit = Number(query.get('limit') ?? DEFAULT_PAGE_SIZE);
  if (!Number.isInteger(limit) || limit < 1) throw badRequest('Invalid limit');
  const start = Number(query.get('position') ?? 0);
  const end = start + Math.min(limit, MAX_PAGE_SIZE);
  return { item: all.slice(start, end), ...(end < all.length ? { position: String(end) } : {}) };
};

const createKey: Operation = async (plane, { body }) => {
  const { state, now } = plane;
  const value = field(body, 'value') ?? randomBase62(40);
  if (typeof value !== 'string' || !KEY_VALUE.test(value)) {
    throw badRequest(
      'API Key value should be at least 20 characters and at most 128 alphanumeric characters',
    );
  }
  if (state.keyIdByValue.has(value)) throw conflict('API Key already exists');
  if (state.keys.size >= KEY_QUOTA)
    throw new ControlPlaneError('LimitExceededException', 429, 'Maximum number of API keys reached');
  const seconds = Math.floor(now() / 1000);
  const description = field(body, 'description');
  const key: StoredKey = {
    id: randomBase62(10).toLowerCase(),
    value,
    name: String(field(body, 'name') ?? ''),
    ...(typeof description === 'string' ? { description } : {}),
    enabled: field(body, 'enabled') === true,
    createdDate: seconds,
    lastUpdatedDate: seconds,
  };
  state.keys.set(key.id, key);
  state.keyIdByValue.set(value, key.id);
  await state.save();
  return { status: 201, body: keyView(key, true) };
};

const listKeys: Operation = ({ state }, { query }) => {
  const namePrefix = query.get('name') ?? '';
  const keys = [...state.keys.values()].filter(({ name }) => name.startsWith(namePrefix));
  const { item, ...next } = pageOf(keys, query);
  const withValues = query.get('includeValues') === 'true';
  return { status: 200, body: { item: item.map((key) => keyView(key, withValues)), ...next } };
};

const getKey: Operation = (plane, { ids: [id = ''], query }) => ({
  status: 200,
  body: keyView(requireKey(plane, id), query.get('includeValue') === 'true'),
});

const PATCHABLE: Readonly<Record<string, (value: string) => Partial<StoredKey>>> = {
  '/enabled': (value) => ({ enabled: value === 'true' }),
  '/name': (name) => ({ name }),
  '/description': (description) => ({ description }),
};

const updateKey: Operation = async (plane, { ids: [id = ''], body }) => {
  const operations = field(body, 'patchOperations');
  let key = requireKey(plane, id);
  for (const operation of Array.isArray(operations) ? operations : []) {
    const patch = PATCHABLE[String(field(operation, 'path'))];
    if (patch === undefined || field(operation, 'op') !== 'replace')
      throw badRequest('Invalid patch path or op');
    key = {
      ...key,
      ...patch(String(field(operation, 'value'))),
      lastUpdatedDate: Math.floor(plane.now() / 1000),
    };
  }
  plane.state.keys.set(id, key);
  await plane.state.save();
  return { status: 200, body: keyView(key, false) };
};

const deleteKey: Operation = async (plane, { ids: [id = ''] }) => {
  const { state } = plane;
  const key = requireKey(plane, id);
  state.keys.delete(id);
  state.keyIdByValue.delete(key.value);
  state.planOfKey.delete(id);
  state.usage.delete(id);
  await state.save();
  return { status: 202 };
};

const listPlans: Operation = (_plane, { query }) => {
  const plans = PLAN_NAMES.map((name) => ({
    id: LOCAL_PLAN_IDS[name],
    name,
    apiStages: [{ apiId: LOCAL_API_ID, stage: LOCAL_STAGE_NAME }],
    throttle: usagePlanThrottle(name),
  }));
  return { status: 200, body: pageOf(plans, query) };
};

const memberView = (key: StoredKey) => ({ id: key.id, type: 'API_KEY', name: key.name, value: key.value });

const addMember: Operation = async (plane, { ids: [planId = ''], body }) => {
  const plan = requirePlan(planId);
  const key = requireKey(plane, String(field(body, 'keyId')));
  if (field(body, 'keyType') !== 'API_KEY') throw badRequest('Invalid key type');
  if (plane.state.planOfKey.has(key.id)) {
    throw conflict(
      `Usage Plan ${plan} cannot be added because API Key ${key.id} is already subscribed to a Usage Plan of the stage`,
    );
  }
  plane.state.planOfKey.set(key.id, plan);
  await plane.state.save();
  return { status: 201, body: memberView(key) };
};

const requireMember = (plane: ControlPlane, planId: string, keyId: string): StoredKey => {
  const plan = requirePlan(planId);
  const key = requireKey(plane, keyId);
  if (plane.state.planOfKey.get(keyId) !== plan) throw notFound('Invalid API Key identifier specified');
  return key;
};

const getMember: Operation = (plane, { ids: [planId = '', keyId = ''] }) => ({
  status: 200,
  body: memberView(requireMember(plane, planId, keyId)),
});

const removeMember: Operation = async (plane, { ids: [planId = '', keyId = ''] }) => {
  requireMember(plane, planId, keyId);
  plane.state.planOfKey.delete(keyId);
  await plane.state.save();
  return { status: 202 };
};

const listMembers: Operation = (plane, { ids: [planId = ''], query }) => {
  const plan = requirePlan(planId);
  const members = [...plane.state.planOfKey]
    .filter(([, its]) => its === plan)
    .flatMap(([id]) => plane.state.keys.get(id) ?? []);
  const { item, ...next } = pageOf(members, query);
  return { status: 200, body: { item: item.map(memberView), ...next } };
};

const getUsage: Operation = ({ state }, { ids: [planId = ''], query }) => {
  const plan = requirePlan(planId);
  const startDate = query.get('startDate') ?? '';
  const endDate = query.get('endDate') ?? '';
  const start = Date.parse(`${startDate}T00:00:00Z`);
  const days = (Date.parse(`${endDate}T00:00:00Z`) - start) / DAY_MS + 1;
  if (!(days >= 1 && days <= MAX_USAGE_DAYS)) throw badRequest('Usage dates are invalid or too far apart');
  const keyId = query.get('keyId');
  const members = [...state.planOfKey].filter(
    ([id, its]) => its === plan && (keyId === null || id === keyId),
  );
  const values = members
    .filter(([id]) => state.usage.has(id))
    .map(([id]) => [
      id,
      Array.from({ length: days }, (_, index) => {
        const day = new Date(start + index * DAY_MS).toISOString().slice(0, 10);
        // The second number is what a quota leaves; a plan without a quota has none to leave.
        return [state.usage.get(id)?.get(day) ?? 0, 0];
      }),
    ]);
  return { status: 200, body: { usagePlanId: plan, startDate, endDate, values: Object.fromEntries(values) } };
};

const flushCache: Operation = (plane, { ids: [apiId, stageName] }) => {
  if (apiId !== LOCAL_API_ID || stageName !== LOCAL_STAGE_NAME)
    throw notFound('Invalid stage identifier specified');
  plane.flush();
  return { status: 202 };
};

/** Every call that is served: method, path (its ids in parentheses), operation. */
export const OPERATIONS: readonly { method: string; path: RegExp; run: Operation }[] = [
  { method: 'POST', path: /^\/apikeys$/, run: createKey },
  { method: 'GET', path: /^\/apikeys$/, run: listKeys },
  { method: 'GET', path: /^\/apikeys\/([^/]+)$/, run: getKey },
  { method: 'PATCH', path: /^\/apikeys\/([^/]+)$/, run: updateKey },
  { method: 'DELETE', path: /^\/apikeys\/([^/]+)$/, run: deleteKey },
  { method: 'GET', path: /^\/usageplans$/, run: listPlans },
  { method: 'POST', path: /^\/usageplans\/([^/]+)\/keys$/, run: addMember },
  { method: 'GET', path: /^\/usageplans\/([^/]+)\/keys$/, run: listMembers },
  { method: 'GET', path: /^\/usageplans\/([^/]+)\/keys\/([^/]+)$/, run: getMember },
  { method: 'DELETE', path: /^\/usageplans\/([^/]+)\/keys\/([^/]+)$/, run: removeMember },
  { method: 'GET', path: /^\/usageplans\/([^/]+)\/usage$/, run: getUsage },
  { method: 'DELETE', path: /^\/restapis\/([^/]+)\/stages\/([^/]+)\/cache\/authorizers$/, run: flushCache },
];
