import { randomBase62 } from '#shared/base62.ts';
import { badRequest, conflict, field, type Operation, pageOf, requireKey, SimulatorError } from './call.ts';
import type { StoredKey } from './state.ts';

/** API Gateway's own numbers. */
const KEY_VALUE = /^[0-9A-Za-z]{20,128}$/;
const KEY_QUOTA = 10_000;

const keyView = (key: StoredKey, withValue: boolean) => {
  const { value, ...rest } = key;
  return withValue ? { ...rest, value, stageKeys: [] } : { ...rest, stageKeys: [] };
};

/** POST /apikeys */
export const createKey: Operation = (simulator, { body }) => {
  const { state, now } = simulator;
  if (!simulator.mayCreateKey())
    throw new SimulatorError('TooManyRequestsException', 429, 'Too Many Requests');
  const value = field(body, 'value') ?? randomBase62(40);
  if (typeof value !== 'string' || !KEY_VALUE.test(value)) {
    throw badRequest(
      'API Key value should be at least 20 characters and at most 128 alphanumeric characters',
    );
  }
  if (state.keyIdByValue.has(value)) throw conflict('API Key already exists');
  if (state.keys.size >= KEY_QUOTA)
    throw new SimulatorError('LimitExceededException', 429, 'Maximum number of API keys reached');
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
  return { status: 201, body: keyView(key, true) };
};

/** GET /apikeys */
export const listKeys: Operation = ({ state }, { query }) => {
  const namePrefix = query.get('name') ?? '';
  const keys = [...state.keys.values()].filter(({ name }) => name.startsWith(namePrefix));
  const { item, ...next } = pageOf(keys, query);
  const withValues = query.get('includeValues') === 'true';
  return { status: 200, body: { item: item.map((key) => keyView(key, withValues)), ...next } };
};

/** GET /apikeys/{id} */
export const getKey: Operation = (simulator, { ids: [id = ''], query }) => ({
  status: 200,
  body: keyView(requireKey(simulator, id), query.get('includeValue') === 'true'),
});

const PATCHABLE: Readonly<Record<string, (value: string) => Partial<StoredKey>>> = {
  '/enabled': (value) => ({ enabled: value === 'true' }),
  '/name': (name) => ({ name }),
  '/description': (description) => ({ description }),
};

/** PATCH /apikeys/{id} */
export const updateKey: Operation = (simulator, { ids: [id = ''], body }) => {
  const operations = field(body, 'patchOperations');
  let key = requireKey(simulator, id);
  for (const operation of Array.isArray(operations) ? operations : []) {
    const patch = PATCHABLE[String(field(operation, 'path'))];
    if (patch === undefined || field(operation, 'op') !== 'replace')
      throw badRequest('Invalid patch path or op');
    key = {
      ...key,
      ...patch(String(field(operation, 'value'))),
      lastUpdatedDate: Math.floor(simulator.now() / 1000),
    };
  }
  simulator.state.keys.set(id, key);
  return { status: 200, body: keyView(key, false) };
};

/** DELETE /apikeys/{id} */
export const deleteKey: Operation = (simulator, { ids: [id = ''] }) => {
  const { state } = simulator;
  const key = requireKey(simulator, id);
  state.keys.delete(id);
  state.keyIdByValue.delete(key.value);
  state.planOfKey.delete(id);
  state.usage.delete(id);
  return { status: 202 };
};
