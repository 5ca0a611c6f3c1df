import { createKey, deleteKey, getKey, listKeys, updateKey } from './api-keys.ts';
import { notFound, type Operation } from './call.ts';
import { API_ID, STAGE_NAME } from './identifiers.ts';
import { addMember, getMember, getUsage, listMembers, listPlans, removeMember } from './usage-plans.ts';

const flushCache: Operation = (simulator, { ids: [apiId, stageName] }) => {
  if (apiId !== API_ID || stageName !== STAGE_NAME) throw notFound('Invalid stage identifier specified');
  simulator.flush();
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
