import type { GatewayKey, UsagePlans } from '#admin/usage-plans/port.ts';
import type { PlanName } from '#shared/rate-limits/plans.ts';

/** A fake of API Gateway in memory, with its state, for tests. */
export interface FakeUsagePlans extends UsagePlans {
  readonly held: Map<string, GatewayKey>;
  /** Key id -> the plans it is in. */
  readonly plans: Map<string, Set<PlanName>>;
  readonly flushes: () => number;
  /** Counts a request of a key, as the gateway would. */
  recordUse(id: string, day: string): void;
}

/** An empty one. It refuses what API Gateway refuses; the same contract test runs against the adapter. */
export const fakeUsagePlans = (): FakeUsagePlans => {
  const held = new Map<string, GatewayKey>();
  const plans = new Map<string, Set<PlanName>>();
  const used = new Map<string, Map<string, number>>();
  let flushes = 0;
  let made = 0;
  const required = (id: string): GatewayKey => {
    const key = held.get(id);
    if (key === undefined) throw new Error('no such key in the gateway');
    return key;
  };
  return {
    held,
    plans,
    flushes: () => flushes,
    recordUse(id, day) {
      const days = used.get(id) ?? new Map<string, number>();
      used.set(id, days.set(day, (days.get(day) ?? 0) + 1));
    },
    async createKey(key) {
      const same = [...held.values()].find(({ value }) => value === key.value);
      if (same !== undefined) return same;
      made += 1;
      const created = { id: `gateway${made}`, ...key };
      held.set(created.id, created);
      return created;
    },
    async deleteKey(id) {
      held.delete(id);
      plans.delete(id);
    },
    async setEnabled(id, enabled) {
      held.set(id, { ...required(id), enabled });
    },
    async *listKeys(namePrefix) {
      yield* [...held.values()].filter(({ name }) => name.startsWith(namePrefix));
    },
    countKeys: async (atMost) => Math.min(atMost, held.size),
    async attach(id, plan) {
      required(id);
      const current = plans.get(id) ?? new Set();
      if (current.size > 0 && !current.has(plan)) throw new Error('the key is in another plan of the stage');
      plans.set(id, current.add(plan));
    },
    async detach(id, plan) {
      plans.get(id)?.delete(plan);
    },
    async *listMembers(plan) {
      for (const [id, { name }] of held) if (plans.get(id)?.has(plan)) yield { id, name };
    },
    async usage(id, _plan, firstDay, lastDay) {
      return [...(used.get(id) ?? [])]
        .map(([day, requests]) => ({ day, requests }))
        .filter(({ day }) => day >= firstDay && day <= lastDay)
        .sort((a, b) => a.day.localeCompare(b.day));
    },
    async flushAuthorizerCache() {
      flushes += 1;
    },
  };
};
