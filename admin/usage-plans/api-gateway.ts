import {
  APIGatewayClient,
  ConflictException,
  CreateApiKeyCommand,
  CreateUsagePlanKeyCommand,
  DeleteApiKeyCommand,
  DeleteUsagePlanKeyCommand,
  FlushStageAuthorizersCacheCommand,
  GetUsageCommand,
  GetUsagePlanKeyCommand,
  LimitExceededException,
  NotFoundException,
  paginateGetApiKeys,
  paginateGetUsagePlanKeys,
  UpdateApiKeyCommand,
} from '@aws-sdk/client-api-gateway';
import { refusal } from '#admin/operations/refusal.ts';
import type { PlanName } from '#shared/rate-limits/plans.ts';
import type { DayUsage, GatewayKey, UsagePlans } from './port.ts';

/** Which API Gateway, and what of it is ours. */
export interface ApiGatewayOptions {
  readonly client: APIGatewayClient;
  readonly apiId: string;
  readonly stageName: string;
  readonly planIds: Readonly<Record<PlanName, string>>;
}

/** A management call is tried this often: API Gateway takes ten a second from an account, and five CreateApiKey. */
const MAX_ATTEMPTS = 10;
const CONNECTION_TIMEOUT_MS = 3000;
const REQUEST_TIMEOUT_MS = 30_000;
const PAGE_SIZE = 500;

type ClientOptions = NonNullable<ConstructorParameters<typeof APIGatewayClient>[0]>;

/** A client for API Gateway's management. `endpoint`: the local control plane or an emulator. */
export const apiGatewayClient = (options: ClientOptions = {}): APIGatewayClient => {
  const client = new APIGatewayClient({
    maxAttempts: MAX_ATTEMPTS,
    requestHandler: {
      connectionTimeout: CONNECTION_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      throwOnRequestTimeout: true,
    },
    ...options,
  });
  refuseWhenFull(client);
  return client;
};

/** To the SDK a full account looks like throttling, and it would wait for minutes. So it learns of it as of a refusal. */
const refuseWhenFull = (client: APIGatewayClient): void => {
  client.middlewareStack.add(
    (next) => async (args) => {
      try {
        return await next(args);
      } catch (error) {
        if (!(error instanceof LimitExceededException)) throw error;
        throw refusal(
          'key_quota_reached',
          'API Gateway holds no more keys in this account and Region. Revoke some first.',
          { cause: error },
        );
      }
    },
    { step: 'deserialize', priority: 'high', name: 'refuseWhenFull' },
  );
};

const isMissing = (error: unknown): boolean => error instanceof NotFoundException;

/** Runs a call whose work may be done already: the error that says so is none. */
const unless = async (isDone: (error: unknown) => boolean, call: Promise<unknown>): Promise<void> => {
  try {
    await call;
  } catch (error) {
    if (!isDone(error)) throw error;
  }
};

const dayAfter = (day: string, days: number): string =>
  new Date(Date.parse(`${day}T00:00:00Z`) + days * 86_400_000).toISOString().slice(0, 10);

/** API Gateway's management, as the admin's CLI asks it. No Lambda ever does. */
export const apiGatewayUsagePlans = ({
  client,
  apiId,
  stageName,
  planIds,
}: ApiGatewayOptions): UsagePlans => {
  async function* listKeys(namePrefix: string): AsyncGenerator<GatewayKey> {
    const pages = paginateGetApiKeys(
      { client, pageSize: PAGE_SIZE },
      { nameQuery: namePrefix, includeValues: true },
    );
    for await (const page of pages) {
      for (const { id = '', name = '', value = '', enabled = false } of page.items ?? []) {
        // An emulator may not know the query; API Gateway itself filters by it.
        if (name.startsWith(namePrefix)) yield { id, name, value, enabled };
      }
    }
  }

  const findByName = async (name: string): Promise<GatewayKey | undefined> => {
    for await (const key of listKeys(name)) if (key.name === name) return key;
    return undefined;
  };

  const isMember = async (id: string, plan: PlanName): Promise<boolean> => {
    try {
      await client.send(new GetUsagePlanKeyCommand({ usagePlanId: planIds[plan], keyId: id }));
      return true;
    } catch (error) {
      if (isMissing(error)) return false;
      throw error;
    }
  };

  return {
    listKeys,

    async createKey(key) {
      try {
        const made = await client.send(new CreateApiKeyCommand({ ...key, generateDistinctId: false }));
        return { ...key, id: made.id ?? '' };
      } catch (error) {
        if (!(error instanceof ConflictException)) throw error;
        const there = await findByName(key.name);
        if (there?.value !== key.value) throw error;
        return there;
      }
    },

    async deleteKey(id) {
      await unless(isMissing, client.send(new DeleteApiKeyCommand({ apiKey: id })));
    },

    async setEnabled(id, enabled) {
      await client.send(
        new UpdateApiKeyCommand({
          apiKey: id,
          patchOperations: [{ op: 'replace', path: '/enabled', value: String(enabled) }],
        }),
      );
    },

    async countKeys(atMost) {
      let count = 0;
      for await (const page of paginateGetApiKeys({ client, pageSize: PAGE_SIZE }, {})) {
        count += page.items?.length ?? 0;
        if (count >= atMost) return atMost;
      }
      return count;
    },

    async attach(id, plan) {
      try {
        await client.send(
          new CreateUsagePlanKeyCommand({ usagePlanId: planIds[plan], keyId: id, keyType: 'API_KEY' }),
        );
      } catch (error) {
        // It says the same whether the key is in this plan or in another one of the stage.
        if (!(error instanceof ConflictException) || !(await isMember(id, plan))) throw error;
      }
    },

    async detach(id, plan) {
      await unless(
        isMissing,
        client.send(new DeleteUsagePlanKeyCommand({ usagePlanId: planIds[plan], keyId: id })),
      );
    },

    async *listMembers(plan) {
      const pages = paginateGetUsagePlanKeys({ client, pageSize: PAGE_SIZE }, { usagePlanId: planIds[plan] });
      for await (const page of pages)
        for (const { id = '', name = '' } of page.items ?? []) yield { id, name };
    },

    async usage(id, plan, firstDay, lastDay) {
      const { items } = await client
        .send(
          new GetUsageCommand({
            usagePlanId: planIds[plan],
            keyId: id,
            startDate: firstDay,
            endDate: lastDay,
          }),
        )
        .catch((error: unknown) => {
          // A key that the plan does not know was not used under it; the caller asks every plan about every key.
          if (isMissing(error)) return { items: undefined };
          throw error;
        });
      // One pair (used, remaining) a day, from the first day on.
      const days = (items?.[id] ?? []).map(
        ([used = 0], index): DayUsage => ({ day: dayAfter(firstDay, index), requests: used }),
      );
      return days.filter(({ requests }) => requests > 0);
    },

    async flushAuthorizerCache() {
      await client.send(new FlushStageAuthorizersCacheCommand({ restApiId: apiId, stageName }));
    },
  };
};
