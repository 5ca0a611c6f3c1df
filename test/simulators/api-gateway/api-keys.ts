import { KEY_QUOTA } from '#admin/usage-plans/port.ts';
import { randomBase62 } from '#shared/base62.ts';
import { ApiGatewayError, badRequest, conflict, field, type Operation, pageOf, requireKey } from './call.ts';
import type { StoredKey } from './state.ts';

/** The values that API Gateway accepts. */
const KEY_VALUE = /^[0-9A-Za-z]{20,128}$/;

const keyView = ({ id, name, enabled }: StoredKey) => ({
  id,
  name,
  enabled,
  stageKeys: [],
});

/** POST /apikeys */
export const createKey: Operation = ({ keys }, { body }) => {
  const value = field(body, 'value') ?? randomBase62(40);
  if (typeof value !== 'string' || !KEY_VALUE.test(value)) {
    throw badRequest(
      'API Key value should be at least 20 characters and at most 128 alphanumeric characters',
    );
  }
  if (keys.values().some((key) => key.value === value)) throw conflict('API Key already exists');
  if (keys.size >= KEY_QUOTA) {
    throw new ApiGatewayError('LimitExceededException', 429, 'Maximum number of API keys reached');
  }
  const key: StoredKey = {
    id: randomBase62(10).toLowerCase(),
    name: String(field(body, 'name') ?? ''),
    value,
    enabled: field(body, 'enabled') === true,
  };
  keys.set(key.id, key);
  return { status: 201, body: { ...keyView(key), value } };
};

/** GET /apikeys */
export const listKeys: Operation = ({ keys }, { query }) => {
  const namePrefix = query.get('name') ?? '';
  const withValues = query.get('includeValues') === 'true';
  const { item, ...next } = pageOf(
    [...keys.values().filter(({ name }) => name.startsWith(namePrefix))],
    query,
  );
  const views = item.map((key) => (withValues ? { ...keyView(key), value: key.value } : keyView(key)));
  return { status: 200, body: { item: views, ...next } };
};

/** PATCH /apikeys/{id}. Only `enabled` and the description, which nobody reads, can be replaced. */
export const updateKey: Operation = (state, { ids: [id = ''], body }) => {
  const key = requireKey(state, id);
  const operations = field(body, 'patchOperations');
  let { enabled } = key;
  for (const operation of Array.isArray(operations) ? operations : []) {
    const path = field(operation, 'op') === 'replace' ? field(operation, 'path') : undefined;
    if (path === '/enabled') enabled = field(operation, 'value') === 'true';
    else if (path !== '/description') throw badRequest('Invalid patch path or op');
  }
  const updated = { ...key, enabled };
  state.keys.set(id, updated);
  return { status: 200, body: keyView(updated) };
};

/** DELETE /apikeys/{id} */
export const deleteKey: Operation = (state, { ids: [id = ''] }) => {
  requireKey(state, id);
  state.keys.delete(id);
  return { status: 202 };
};
