import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { DeleteCommand, GetCommand, PutCommand, paginateQuery, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { GatewayKey, UsagePlans } from '#admin/usage-plans/port.ts';
import type { Clock } from '#shared/clock.ts';
import { type PlanName, usagePlanThrottle } from '#shared/rate-limits/plans.ts';
import type { Table } from '#shared/table/client.ts';
import type { Throttle } from './gateway/throttles.ts';

/** A key of API Gateway. Its id is its usage id. `day#<day>`: its requests of that day (UTC). */
interface StoredKey {
  readonly pk: 'KEY';
  readonly sk: string;
  readonly name: string;
  readonly enabled: boolean;
  readonly plan?: PlanName;
  readonly [day: `day#${string}`]: number;
}

const SET = 'SET #field = :value';
const keyOf = (id: string) => ({ pk: 'KEY', sk: id });
/** The number of flushes of the authorizer cache, which the gateway compares. */
const FLUSHES = { pk: 'FLUSHES', sk: 'FLUSHES' };

/** The table of the usage plans, in the database of the service's own table: the CLI is another process. */
export const usagePlansTable = ({ client, name }: Table): Table => ({ client, name: `${name}-usage-plans` });

const readerOf = ({ client, name: TableName }: Table) => ({
  async find(id: string): Promise<StoredKey | undefined> {
    const { Item } = await client.send(new GetCommand({ TableName, Key: keyOf(id), ConsistentRead: true }));
    return Item as StoredKey | undefined;
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
});

const gatewayKey = ({ sk, name, enabled }: StoredKey): GatewayKey => ({ id: sk, value: sk, name, enabled });

/** Resolves with false if the condition of a write does not hold. */
const isWritten = async (write: Promise<unknown>): Promise<boolean> => {
  try {
    await write;
    return true;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return false;
    throw error;
  }
};

/** The usage plans of the service on one machine, for the admin operations. `table`: that of usagePlansTable. */
export const localUsagePlans = (table: Table): UsagePlans => {
  const { client, name: TableName } = table;
  const { find, list } = readerOf(table);
  /** Changes a field of a key. Resolves with false if the condition does not hold. */
  const update = (
    { id, field, value }: { id: string; field: 'enabled' | 'plan'; value: unknown },
    change: string,
    condition: string,
  ) =>
    isWritten(
      client.send(
        new UpdateCommand({
          TableName,
          Key: keyOf(id),
          UpdateExpression: change,
          ConditionExpression: condition,
          ExpressionAttributeNames: { '#field': field },
          ExpressionAttributeValues: { ':value': value },
        }),
      ),
    );
  return {
    async createKey({ name, value, enabled }) {
      const item: StoredKey = { pk: 'KEY', sk: value, name, enabled };
      const put = new PutCommand({ TableName, Item: item, ConditionExpression: 'attribute_not_exists(pk)' });
      if (await isWritten(client.send(put))) return gatewayKey(item);
      const existing = await find(value);
      if (existing?.name !== name) throw new Error('Another key has this value.');
      return gatewayKey(existing);
    },
    async deleteKey(id) {
      await client.send(new DeleteCommand({ TableName, Key: keyOf(id) }));
    },
    async setEnabled(id, enabled) {
      const isChanged = await update({ id, field: 'enabled', value: enabled }, SET, 'attribute_exists(pk)');
      if (!isChanged) throw new Error('The key does not exist.');
    },
    async *listKeys(namePrefix) {
      for await (const key of list()) if (key.name.startsWith(namePrefix)) yield gatewayKey(key);
    },
    async countKeys(atMost) {
      return Math.min(atMost, (await Array.fromAsync(list())).length);
    },
    async attach(id, plan) {
      const isFree = 'attribute_exists(pk) AND (attribute_not_exists(#field) OR #field = :value)';
      const isAttached = await update({ id, field: 'plan', value: plan }, SET, isFree);
      if (!isAttached) throw new Error('The key does not exist, or it is in another plan.');
    },
    async detach(id, plan) {
      await update({ id, field: 'plan', value: plan }, 'REMOVE #field', '#field = :value');
    },
    async *listMembers(plan) {
      for await (const key of list()) if (key.plan === plan) yield { id: key.sk, name: key.name };
    },
    async usage(id, plan, firstDay, lastDay) {
      const key = await find(id);
      if (key?.plan !== plan) return [];
      return Object.entries(key)
        .filter(([name]) => name.startsWith('day#'))
        .map(([name, requests]) => ({ day: name.slice(4), requests: Number(requests) }))
        .filter(({ day }) => day >= firstDay && day <= lastDay)
        .sort((one, other) => one.day.localeCompare(other.day));
    },
    async flushAuthorizerCache() {
      await client.send(
        new UpdateCommand({
          TableName,
          Key: FLUSHES,
          UpdateExpression: 'ADD flushes :one',
          ExpressionAttributeValues: { ':one': 1 },
        }),
      );
    },
  };
};

/** The usage plans as the gateway sees them. `table`: that of usagePlansTable. */
export const gatewayPlans = (table: Table, clock: Clock) => {
  const { client, name: TableName } = table;
  const { find } = readerOf(table);
  return {
    /** Returns how often the authorizer cache was flushed. */
    async flushes(): Promise<number> {
      const { Item } = await client.send(new GetCommand({ TableName, Key: FLUSHES, ConsistentRead: true }));
      return Item?.flushes ?? 0;
    },
    /** Returns the throttle of the key's plan; undefined if the usage id is unknown, disabled or in no plan: API Gateway returns 403 then. */
    async throttleOf(usageId: string): Promise<Throttle | undefined> {
      const key = await find(usageId);
      return key?.enabled && key.plan !== undefined ? usagePlanThrottle(key.plan) : undefined;
    },
    /** Counts a request of a key that exists. Never rejects: on AWS too, no request fails because of its count. */
    async recordUse(usageId: string): Promise<void> {
      const count = new UpdateCommand({
        TableName,
        Key: keyOf(usageId),
        UpdateExpression: 'ADD #day :one',
        ConditionExpression: 'attribute_exists(pk)',
        ExpressionAttributeNames: { '#day': `day#${new Date(clock()).toISOString().slice(0, 10)}` },
        ExpressionAttributeValues: { ':one': 1 },
      });
      await client.send(count).catch(() => {});
    },
  };
};

export type GatewayPlans = ReturnType<typeof gatewayPlans>;
