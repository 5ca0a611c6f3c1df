import { refusal } from '#admin/operations/refusal.ts';
import { KEY_QUOTA, type UsagePlans } from '#admin/usage-plans/port.ts';
import { randomBase62 } from '#shared/base62.ts';
import type { Clock } from '#shared/clock.ts';
import { usagePlanThrottle } from '#shared/rate-limits/plans.ts';
import type { Throttle } from '../gateway/throttles.ts';
import { readState, type State, type StoredKey, stateWriter } from './state-file.ts';

/** The usage plans of the service on one machine: for its gateway, and for the admin CLI what API Gateway is on AWS. */
export interface LocalUsagePlans extends UsagePlans {
  /** Returns the throttle of the key's plan; undefined if the usage id is unknown, disabled or in no plan: API Gateway returns 403 then. */
  throttleOf(usageId: string): Throttle | undefined;
  /** Counts a request. The count reaches the file within a second. */
  recordUse(usageId: string): void;
  /** Calls the listener at each flush of the authorizer cache, before the response of the flush. */
  onFlush(listener: () => void): void;
  /** Writes the counts that are not yet in the file. */
  close(): Promise<void>;
}

export interface StoreOptions {
  /** The JSON file that keeps the state; in memory if it is left out. */
  readonly file?: string;
  readonly clock: Clock;
}

const USAGE_SAVE_DELAY_MS = 1000;

/** Opens the store. A change is in the file before its promise resolves. */
export const openUsagePlans = async ({ file, clock }: StoreOptions): Promise<LocalUsagePlans> => {
  const state = await readState(file);
  const save = stateWriter(file, state);
  return { ...keyOperations(state, save), ...requestCounts(state, { clock, save }) };
};

type Keys = State['keys'];
type KeyOperations = Omit<UsagePlans, 'usage' | 'flushAuthorizerCache'>;
type RequestCounts = Omit<LocalUsagePlans, keyof KeyOperations>;

const keyWithValue = (keys: Keys, value: string): StoredKey | undefined =>
  [...keys.values()].find((key) => key.value === value);

const requireKey = (keys: Keys, id: string): StoredKey => {
  const key = keys.get(id);
  if (key === undefined) throw new Error('The local gateway has no key with this id.');
  return key;
};

const keyOperations = ({ keys, usage }: State, save: () => Promise<void>): KeyOperations => {
  const replace = (key: StoredKey): Promise<void> => {
    keys.set(key.id, key);
    return save();
  };
  return {
    async createKey(key) {
      const existing = keyWithValue(keys, key.value);
      if (existing !== undefined) return withoutPlan(existing);
      if (keys.size >= KEY_QUOTA) throw refusal('key_quota_reached', 'The local gateway holds no more keys.');
      const created = { id: randomBase62(10), ...key };
      await replace(created);
      return created;
    },
    async deleteKey(id) {
      keys.delete(id);
      usage.delete(id);
      await save();
    },
    setEnabled: async (id, enabled) => replace({ ...requireKey(keys, id), enabled }),
    async *listKeys(namePrefix) {
      for (const key of [...keys.values()]) if (key.name.startsWith(namePrefix)) yield withoutPlan(key);
    },
    countKeys: async (atMost) => Math.min(atMost, keys.size),
    async attach(id, plan) {
      const key = requireKey(keys, id);
      if ((key.plan ?? plan) !== plan) throw new Error('The key is in another usage plan.');
      await replace({ ...key, plan });
    },
    async detach(id, plan) {
      const key = keys.get(id);
      if (key?.plan === plan) await replace(withoutPlan(key));
    },
    async *listMembers(plan) {
      for (const key of [...keys.values()]) if (key.plan === plan) yield { id: key.id, name: key.name };
    },
  };
};

const withoutPlan = ({ plan: _, ...key }: StoredKey): Omit<StoredKey, 'plan'> => key;

interface CountOptions {
  readonly clock: Clock;
  readonly save: () => Promise<void>;
}

const requestCounts = ({ keys, usage }: State, { clock, save }: CountOptions): RequestCounts => {
  const listeners: (() => void)[] = [];
  let saveTimer: NodeJS.Timeout | undefined;
  const saveSoon = (): void => {
    saveTimer ??= setTimeout(() => {
      saveTimer = undefined;
      save().catch(() => {});
    }, USAGE_SAVE_DELAY_MS).unref();
  };
  return {
    throttleOf(usageId) {
      const key = keyWithValue(keys, usageId);
      return key?.enabled && key.plan !== undefined ? usagePlanThrottle(key.plan) : undefined;
    },
    recordUse(usageId) {
      const key = keyWithValue(keys, usageId);
      if (key === undefined) return;
      const day = new Date(clock()).toISOString().slice(0, 10);
      const days = usage.get(key.id) ?? new Map<string, number>();
      usage.set(key.id, days.set(day, (days.get(day) ?? 0) + 1));
      saveSoon();
    },
    async usage(id, plan, firstDay, lastDay) {
      if (keys.get(id)?.plan !== plan) return [];
      return [...(usage.get(id) ?? [])]
        .map(([day, requests]) => ({ day, requests }))
        .filter(({ day }) => day >= firstDay && day <= lastDay)
        .sort((a, b) => a.day.localeCompare(b.day));
    },
    onFlush: (listener) => {
      listeners.push(listener);
    },
    async flushAuthorizerCache() {
      for (const listener of listeners) listener();
    },
    async close() {
      clearTimeout(saveTimer);
      await save();
    },
  };
};
