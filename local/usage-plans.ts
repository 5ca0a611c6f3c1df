import { DeleteCommand, GetCommand, PutCommand, paginateQuery, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { GatewayKey, UsagePlans } from '#admin/usage-plans/port.ts';
import { type PlanName, usagePlanThrottle } from '#shared/rate-limits/plans.ts';
import type { Table } from '#shared/table/client.ts';
import { conditionalWrite } from '#shared/table/writes.ts';
import type { GatewayPlans } from './gateway/access-control.ts';

/** A key of API Gateway. Its id is its usage id. */
interface StoredKey {
  readonly pk: 'KEY';
  readonly sk: string;
  readonly name: string;
  readonly enabled: boolean;
  readonly plan?: PlanName;
}

/** A change of one field of an item: an update expression of `#field` and `:value`. */
type Change = Readonly<{ change: string; field: string; value: unknown; condition?: string }>;

const keyOf = (id: string) => ({ pk: 'KEY', sk: id });
/** The number of flushes of the authorizer cache, which the gateway compares. */
const FLUSHES = { pk: 'FLUSHES', sk: 'FLUSHES' };

const SET = 'SET #field = :value';
const EXISTS = 'attribute_exists(pk)';

/** The table of the usage plans, in the database of the service's own table: the CLI is another process. */
export const usagePlansTable = ({ client, name }: Table): Table => ({ client, name: `${name}-usage-plans` });

const gatewayKey = ({ sk, name, enabled }: StoredKey): GatewayKey => ({ id: sk, value: sk, name, enabled });

/** The items of the table of usagePlansTable. */
const itemsOf = ({ client, name: TableName }: Table) => {
  const find = async (Key: object) =>
    (await client.send(new GetCommand({ TableName, Key: { ...Key }, ConsistentRead: true }))).Item;
  return {
    find,
    findKey: async (id: string) => (await find(keyOf(id))) as StoredKey | undefined,
    /** Resolves with false if the key exists. */
    async put(Item: StoredKey) {
      const put = new PutCommand({ TableName, Item, ConditionExpression: 'attribute_not_exists(pk)' });
      return (await conditionalWrite(client.send(put))).written;
    },
    async remove(id: string) {
      await client.send(new DeleteCommand({ TableName, Key: keyOf(id) }));
    },
    async *list(): AsyncGenerator<StoredKey> {
      const query = {
        TableName,
        KeyConditionExpression: 'pk = :key',
        ExpressionAttributeValues: { ':key': 'KEY' },
        ConsistentRead: true,
      };
      for await (const { Items = [] } of paginateQuery({ client }, query)) yield* Items as StoredKey[];
    },
    /** Resolves with false if the condition does not hold. */
    async update(Key: typeof FLUSHES, { change, field, value, condition }: Change) {
      const command = new UpdateCommand({
        TableName,
        Key,
        UpdateExpression: change,
        ConditionExpression: condition,
        ExpressionAttributeNames: { '#field': field },
        ExpressionAttributeValues: { ':value': value },
      });
      return (await conditionalWrite(client.send(command))).written;
    },
  };
};

type Items = ReturnType<typeof itemsOf>;
type Members = 'attach' | 'detach' | 'listMembers';

/** The usage plans of the service on one machine, for the admin operations and the gateway. `table`: that of usagePlansTable. */
export const localUsagePlans = (table: Table): UsagePlans & GatewayPlans => {
  const items = itemsOf(table);
  return { ...keysIn(items), ...membersIn(items), ...gatewayReads(items) };
};

const keysIn = (items: Items): Omit<UsagePlans, Members> => ({
  async createKey({ name, value, enabled }) {
    const item: StoredKey = { pk: 'KEY', sk: value, name, enabled };
    if (await items.put(item)) return gatewayKey(item);
    const existing = await items.findKey(value);
    if (existing?.name !== name) throw new Error('Another key has this value.');
    return gatewayKey(existing);
  },
  deleteKey: items.remove,
  async setEnabled(id, enabled) {
    const change = { change: SET, field: 'enabled', value: enabled, condition: EXISTS };
    if (!(await items.update(keyOf(id), change))) throw new Error('The key does not exist.');
  },
  async *listKeys(namePrefix) {
    for await (const key of items.list()) if (key.name.startsWith(namePrefix)) yield gatewayKey(key);
  },
  async countKeys(atMost) {
    return Math.min(atMost, (await Array.fromAsync(items.list())).length);
  },
  async flushAuthorizerCache() {
    await items.update(FLUSHES, { change: 'ADD #field :value', field: 'flushes', value: 1 });
  },
});

const membersIn = (items: Items): Pick<UsagePlans, Members> => ({
  async attach(id, plan) {
    const condition = `${EXISTS} AND (attribute_not_exists(#field) OR #field = :value)`;
    const isAttached = await items.update(keyOf(id), { change: SET, field: 'plan', value: plan, condition });
    if (!isAttached) throw new Error('The key does not exist, or it is in another plan.');
  },
  async detach(id, plan) {
    const condition = '#field = :value';
    await items.update(keyOf(id), { change: 'REMOVE #field', field: 'plan', value: plan, condition });
  },
  async *listMembers(plan) {
    for await (const key of items.list()) if (key.plan === plan) yield { id: key.sk, name: key.name };
  },
});

const gatewayReads = (items: Items): GatewayPlans => ({
  async flushes() {
    return (await items.find(FLUSHES))?.flushes ?? 0;
  },
  async throttleOf(usageId) {
    const key = await items.findKey(usageId);
    return key?.enabled && key.plan !== undefined ? usagePlanThrottle(key.plan) : undefined;
  },
});
