import { PLAN_NAMES, type PlanName } from '#shared/rate-limits/plans.ts';
import { badRequest, conflict, field, notFound, type Operation, pageOf, requireKey } from './call.ts';
import { PLAN_IDS } from './identifiers.ts';
import type { State, StoredKey } from './state.ts';

const requirePlan = (id: string): PlanName => {
  const plan = PLAN_NAMES.find((name) => PLAN_IDS[name] === id);
  if (plan === undefined) throw notFound('Invalid Usage Plan ID specified');
  return plan;
};

const memberView = (key: StoredKey) => ({ id: key.id, type: 'API_KEY', name: key.name, value: key.value });

/** POST /usageplans/{id}/keys */
export const addMember: Operation = (state, { ids: [planId = ''], body }) => {
  const plan = requirePlan(planId);
  const key = requireKey(state, String(field(body, 'keyId')));
  if (field(body, 'keyType') !== 'API_KEY') throw badRequest('Invalid key type');
  if (key.plan !== undefined) {
    throw conflict(
      `Usage Plan ${planId} cannot be added because API Key ${key.id} is already subscribed to a Usage Plan of the stage`,
    );
  }
  state.keys.set(key.id, { ...key, plan });
  return { status: 201, body: memberView(key) };
};

const requireMember = (state: State, planId: string, keyId: string): StoredKey => {
  const plan = requirePlan(planId);
  const key = requireKey(state, keyId);
  if (key.plan !== plan) throw notFound('Invalid API Key identifier specified');
  return key;
};

/** GET /usageplans/{id}/keys/{key} */
export const getMember: Operation = (state, { ids: [planId = '', keyId = ''] }) => ({
  status: 200,
  body: memberView(requireMember(state, planId, keyId)),
});

/** DELETE /usageplans/{id}/keys/{key} */
export const removeMember: Operation = (state, { ids: [planId = '', keyId = ''] }) => {
  const { plan: _, ...key } = requireMember(state, planId, keyId);
  state.keys.set(keyId, key);
  return { status: 202 };
};

const membersOf = ({ keys }: State, plan: PlanName): StoredKey[] => [
  ...keys.values().filter((key) => key.plan === plan),
];

/** GET /usageplans/{id}/keys */
export const listMembers: Operation = (state, { ids: [planId = ''], query }) => {
  const { item, ...next } = pageOf(membersOf(state, requirePlan(planId)), query);
  return { status: 200, body: { item: item.map(memberView), ...next } };
};
