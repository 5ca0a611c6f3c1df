import {
  APIGatewayClient,
  type APIGatewayClientConfig,
  ConflictException,
  CreateApiKeyCommand,
  CreateUsagePlanKeyCommand,
  DeleteApiKeyCommand,
  DeleteUsagePlanKeyCommand,
  FlushStageAuthorizersCacheCommand,
  GetUsagePlanKeyCommand,
  LimitExceededException,
  NotFoundException,
  paginateGetApiKeys,
  paginateGetUsagePlanKeys,
  UpdateApiKeyCommand,
} from '@aws-sdk/client-api-gateway';
import { AdminError } from '#admin/admin-error.ts';
import type { PlanName } from '#shared/rate-limits/plans.ts';
import type { AuthorizerCache, GatewayKey, UsagePlans } from './port.ts';

/** The client, and the plans of this deployment. */
interface UsagePlansOptions {
  readonly client: APIGatewayClient;
  readonly planIds: Readonly<Record<PlanName, string>>;
}

/** API Gateway accepts 10 management calls a second from an account and 5 CreateApiKey; the SDK retries throttled ones. */
const MAX_ATTEMPTS = 10;
const CONNECTION_TIMEOUT_MS = 3000;
const REQUEST_TIMEOUT_MS = 30_000;
const PAGE_SIZE = 500;

/** Creates a client of API Gateway's management API. `endpoint`: the local control plane or an emulator. */
export const apiGatewayClient = (options: APIGatewayClientConfig = {}): APIGatewayClient => {
  const client = new APIGatewayClient({
    maxAttempts: MAX_ATTEMPTS,
    requestHandler: {
      connectionTimeout: CONNECTION_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      throwOnRequestTimeout: true,
    },
    ...options,
  });
  refuseWhenQuotaReached(client);
  return client;
};

/** Turns a used-up key quota into an AdminError. The SDK would take it for throttling and retry for minutes. */
const refuseWhenQuotaReached = (client: APIGatewayClient): void => {
  client.middlewareStack.add(
    (next) => async (args) => {
      try {
        return await next(args);
      } catch (error) {
        if (!(error instanceof LimitExceededException)) throw error;
        throw new AdminError(
          'key_quota_reached',
          'The key quota of this AWS account and Region is used up. Revoke keys that are not needed.',
          { cause: error },
        );
      }
    },
    { step: 'deserialize', priority: 'high', name: 'refuseWhenQuotaReached' },
  );
};

/** Awaits a call. Returns undefined if what it names does not exist. */
const ifPresent = async <T>(call: Promise<T>): Promise<T | undefined> => {
  try {
    return await call;
  } catch (error) {
    if (error instanceof NotFoundException) return undefined;
    throw error;
  }
};

const replacing = (apiKey: string, path: string, value: string) =>
  new UpdateApiKeyCommand({ apiKey, patchOperations: [{ op: 'replace', path, value }] });

/** Lists the keys whose names begin with the prefix. */
async function* listKeys(client: APIGatewayClient, namePrefix: string): AsyncGenerator<GatewayKey> {
  const query = { nameQuery: namePrefix, includeValues: true };
  for await (const page of paginateGetApiKeys({ client, pageSize: PAGE_SIZE }, query)) {
    for (const { id = '', name = '', value = '', enabled = false } of page.items ?? []) {
      // API Gateway filters by the query; an emulator may not.
      if (name.startsWith(namePrefix)) yield { id, name, value, enabled };
    }
  }
}

/** The calls on keys. */
const keyCalls = (client: APIGatewayClient) => {
  const findByName = async (name: string): Promise<GatewayKey | undefined> => {
    for await (const key of listKeys(client, name)) if (key.name === name) return key;
    return undefined;
  };

  return {
    listKeys: (namePrefix) => listKeys(client, namePrefix),

    async createKey(key) {
      try {
        const { id = '' } = await client.send(new CreateApiKeyCommand({ ...key, generateDistinctId: false }));
        return { ...key, id };
      } catch (error) {
        if (!(error instanceof ConflictException)) throw error;
        const existing = await findByName(key.name);
        if (existing?.value !== key.value) throw error;
        return { ...key, id: existing.id };
      }
    },

    async deleteKey(id) {
      await ifPresent(client.send(new DeleteApiKeyCommand({ apiKey: id })));
    },

    async setEnabled(id, enabled) {
      await client.send(replacing(id, '/enabled', String(enabled)));
    },

    async countKeys(atMost) {
      let count = 0;
      for await (const page of paginateGetApiKeys({ client, pageSize: PAGE_SIZE }, {})) {
        count += page.items?.length ?? 0;
        if (count >= atMost) return atMost;
      }
      return count;
    },
  } satisfies Partial<UsagePlans>;
};

/** The calls on usage plans. */
const planCalls = ({ client, planIds }: UsagePlansOptions) => {
  const isMember = async (id: string, plan: PlanName): Promise<boolean> => {
    const query = { usagePlanId: planIds[plan], keyId: id };
    return (await ifPresent(client.send(new GetUsagePlanKeyCommand(query)))) !== undefined;
  };

  return {
    async attach(id, plan) {
      try {
        await client.send(
          new CreateUsagePlanKeyCommand({ usagePlanId: planIds[plan], keyId: id, keyType: 'API_KEY' }),
        );
      } catch (error) {
        // API Gateway reports the same conflict for this plan and for another plan of the stage.
        if (!(error instanceof ConflictException) || !(await isMember(id, plan))) throw error;
      }
    },

    async detach(id, plan) {
      const membership = { usagePlanId: planIds[plan], keyId: id };
      await ifPresent(client.send(new DeleteUsagePlanKeyCommand(membership)));
    },

    async *listMembers(plan) {
      const pages = paginateGetUsagePlanKeys({ client, pageSize: PAGE_SIZE }, { usagePlanId: planIds[plan] });
      for await (const page of pages)
        for (const { id = '', name = '' } of page.items ?? []) yield { id, name };
    },
  } satisfies Partial<UsagePlans>;
};

/** UsagePlans over API Gateway's management API. Only the CLI uses it, no Lambda function. */
export const apiGatewayUsagePlans = (options: UsagePlansOptions): UsagePlans => ({
  ...keyCalls(options.client),
  ...planCalls(options),
});

/** The authorizer cache of a stage of an API. */
export const apiGatewayAuthorizerCache = (
  client: APIGatewayClient,
  stage: { readonly restApiId: string; readonly stageName: string },
): AuthorizerCache => ({
  async flush() {
    await client.send(new FlushStageAuthorizersCacheCommand(stage));
  },
});
