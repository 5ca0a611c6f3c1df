import { Refusal, type RefusalCode } from '#admin/refusal.ts';
import type { DayUsage, GatewayKey, UsagePlans } from '#admin/usage-plans/port.ts';
import type { FailedCall } from './endpoint.ts';

/** Where the running service serves its usage plans, and the token for it. */
export interface UsagePlansAccess {
  readonly url: string;
  readonly token: string;
}

/** The usage plans of the service that runs on this machine, for the admin CLI. */
export const localUsagePlans = ({ url, token }: UsagePlansAccess): UsagePlans => {
  const call = async <Result>(method: keyof UsagePlans, ...args: unknown[]): Promise<Result> => {
    const response = await fetch(`${url}/${method}`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(args),
    }).catch((cause: unknown) => {
      throw new Refusal('not_reachable', 'The local service does not respond.', { cause });
    });
    const body = (await response.json()) as { readonly result: Result } & FailedCall;
    if (response.ok) return body.result;
    if (body.code !== undefined) throw new Refusal(body.code as RefusalCode, body.message);
    throw new Error(body.message);
  };
  return {
    createKey: (key) => call<GatewayKey>('createKey', key),
    deleteKey: (id) => call('deleteKey', id),
    setEnabled: (id, enabled) => call('setEnabled', id, enabled),
    countKeys: (atMost) => call('countKeys', atMost),
    attach: (id, plan) => call('attach', id, plan),
    detach: (id, plan) => call('detach', id, plan),
    usage: (...query) => call<readonly DayUsage[]>('usage', ...query),
    flushAuthorizerCache: () => call('flushAuthorizerCache'),
    async *listKeys(namePrefix) {
      yield* await call<readonly GatewayKey[]>('listKeys', namePrefix);
    },
    async *listMembers(plan) {
      yield* await call<readonly Pick<GatewayKey, 'id' | 'name'>[]>('listMembers', plan);
    },
  };
};
