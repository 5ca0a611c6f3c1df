import { PLAN_NAMES, usagePlanThrottle } from '#shared/rate-limits/plans.ts';
import {
  badRequest,
  conflict,
  field,
  notFound,
  type Operation,
  pageOf,
  requireKey,
  type Simulator,
} from './call.ts';
import { API_ID, PLAN_IDS, STAGE_NAME } from './identifiers.ts';
import type { StoredKey } from './state.ts';

/** API Gateway returns the usage of no more days in one call. */
const MAX_USAGE_DAYS = 90;
const DAY_MS = 86_400_000;

const requirePlan = (id: string): string => {
  if (!Object.values<string>(PLAN_IDS).includes(id)) throw notFound('Invalid Usage Plan ID specified');
  return id;
};

/** GET /usageplans */
export const listPlans: Operation = (_simulator, { query }) => {
  const plans = PLAN_NAMES.map((name) => ({
    id: PLAN_IDS[name],
    name,
    apiStages: [{ apiId: API_ID, stage: STAGE_NAME }],
    throttle: usagePlanThrottle(name),
  }));
  return { status: 200, body: pageOf(plans, query) };
};

const memberView = (key: StoredKey) => ({ id: key.id, type: 'API_KEY', name: key.name, value: key.value });

/** POST /usageplans/{id}/keys */
export const addMember: Operation = (simulator, { ids: [planId = ''], body }) => {
  const plan = requirePlan(planId);
  const key = requireKey(simulator, String(field(body, 'keyId')));
  if (field(body, 'keyType') !== 'API_KEY') throw badRequest('Invalid key type');
  if (simulator.state.planOfKey.has(key.id)) {
    throw conflict(
      `Usage Plan ${plan} cannot be added because API Key ${key.id} is already subscribed to a Usage Plan of the stage`,
    );
  }
  simulator.state.planOfKey.set(key.id, plan);
  return { status: 201, body: memberView(key) };
};

const requireMember = (simulator: Simulator, planId: string, keyId: string): StoredKey => {
  const plan = requirePlan(planId);
  const key = requireKey(simulator, keyId);
  if (simulator.state.planOfKey.get(keyId) !== plan) throw notFound('Invalid API Key identifier specified');
  return key;
};

/** GET /usageplans/{id}/keys/{key} */
export const getMember: Operation = (simulator, { ids: [planId = '', keyId = ''] }) => ({
  status: 200,
  body: memberView(requireMember(simulator, planId, keyId)),
});

/** DELETE /usageplans/{id}/keys/{key} */
export const removeMember: Operation = (simulator, { ids: [planId = '', keyId = ''] }) => {
  requireMember(simulator, planId, keyId);
  simulator.state.planOfKey.delete(keyId);
  return { status: 202 };
};

/** GET /usageplans/{id}/keys */
export const listMembers: Operation = (simulator, { ids: [planId = ''], query }) => {
  const plan = requirePlan(planId);
  const members = [...simulator.state.planOfKey]
    .filter(([, its]) => its === plan)
    .flatMap(([id]) => simulator.state.keys.get(id) ?? []);
  const { item, ...next } = pageOf(members, query);
  return { status: 200, body: { item: item.map(memberView), ...next } };
};

/** GET /usageplans/{id}/usage */
export const getUsage: Operation = ({ state }, { ids: [planId = ''], query }) => {
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
