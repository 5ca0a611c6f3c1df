import * as v from 'valibot';
import { refusal } from '#admin/refusal.ts';
import { type GatewayKey, KEY_QUOTA, type UsagePlans } from '#admin/usage-plans/port.ts';
import { randomBase62 } from '#shared/base62.ts';
import type { Clock } from '#shared/clock.ts';
import { PLAN_NAMES, usagePlanThrottle } from '#shared/rate-limits/plans.ts';
import type { Throttle } from '../gateway/throttles.ts';
import { readIfThere, writePrivateFile } from '../private-file.ts';
import { damagedFile } from '../startup-error.ts';

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
  readonly file?: string | undefined;
  readonly clock: Clock;
}

const stateSchema = v.object({
  keys: v.array(
    v.object({
      id: v.string(),
      name: v.string(),
      /** The usage id. */
      value: v.string(),
      enabled: v.boolean(),
      plan: v.optional(v.picklist(PLAN_NAMES)),
    }),
  ),
  /** Key id -> day (UTC) -> requests. */
  usage: v.record(v.string(), v.record(v.string(), v.number())),
});

type State = v.InferOutput<typeof stateSchema>;
type StoredKey = State['keys'][number];

const USAGE_SAVE_DELAY_MS = 1000;

/** Opens the store. A change is in the file before its promise resolves. Throws a StartupError if the file is damaged. */
export const openUsagePlans = async ({ file, clock }: StoreOptions): Promise<LocalUsagePlans> => {
  const state = await readState(file);
  let lastWrite = Promise.resolve();
  const save = async (): Promise<void> => {
    if (file === undefined) return;
    // One write after another.
    lastWrite = lastWrite.catch(() => {}).then(() => writePrivateFile(file, JSON.stringify(state)));
    await lastWrite;
  };
  return { ...keyOperations(state, save), ...requestCounts(state, clock, save) };
};

const readState = async (file: string | undefined): Promise<State> => {
  const text = file === undefined ? undefined : await readIfThere(file);
  if (text === undefined) return { keys: [], usage: {} };
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), stateSchema), text);
  if (!parsed.success) throw damagedFile(file as string, 'it does not hold usage plans');
  return parsed.output;
};

const withoutPlan = ({ plan: _, ...key }: StoredKey): GatewayKey => key;

type KeyOperations = Omit<UsagePlans, 'usage' | 'flushAuthorizerCache'>;

const keyOperations = (state: State, save: () => Promise<void>): KeyOperations => {
  const change = (id: string, fields: Partial<StoredKey>): Promise<void> => {
    const key = state.keys.find((one) => one.id === id);
    if (key === undefined) throw new Error('The local gateway has no key with this id.');
    if (fields.plan !== undefined && (key.plan ?? fields.plan) !== fields.plan) {
      throw new Error('The key is in another usage plan.');
    }
    Object.assign(key, fields);
    return save();
  };
  return {
    async createKey(key) {
      const existing = state.keys.find(({ value }) => value === key.value);
      if (existing !== undefined) return withoutPlan(existing);
      const isFull = state.keys.length >= KEY_QUOTA;
      if (isFull) throw refusal('key_quota_reached', 'The local gateway holds no more keys.');
      const created = { id: randomBase62(10), ...key };
      state.keys.push({ ...created });
      await save();
      return created;
    },
    async deleteKey(id) {
      state.keys = state.keys.filter((key) => key.id !== id);
      delete state.usage[id];
      await save();
    },
    setEnabled: async (id, enabled) => change(id, { enabled }),
    async *listKeys(namePrefix) {
      yield* state.keys.filter(({ name }) => name.startsWith(namePrefix)).map(withoutPlan);
    },
    countKeys: async (atMost) => Math.min(atMost, state.keys.length),
    attach: async (id, plan) => change(id, { plan }),
    async detach(id, plan) {
      const isMember = state.keys.some((key) => key.id === id && key.plan === plan);
      if (isMember) await change(id, { plan: undefined });
    },
    async *listMembers(plan) {
      yield* state.keys.filter((key) => key.plan === plan).map(({ id, name }) => ({ id, name }));
    },
  };
};

const requestCounts = (
  state: State,
  clock: Clock,
  save: () => Promise<void>,
): Omit<LocalUsagePlans, keyof KeyOperations> => {
  const keyOf = (usageId: string) => state.keys.find(({ value }) => value === usageId);
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
      const key = keyOf(usageId);
      return key?.enabled && key.plan !== undefined ? usagePlanThrottle(key.plan) : undefined;
    },
    recordUse(usageId) {
      const key = keyOf(usageId);
      if (key === undefined) return;
      const day = new Date(clock()).toISOString().slice(0, 10);
      const days = state.usage[key.id] ?? {};
      state.usage[key.id] = { ...days, [day]: (days[day] ?? 0) + 1 };
      saveSoon();
    },
    async usage(id, plan, firstDay, lastDay) {
      if (!state.keys.some((key) => key.id === id && key.plan === plan)) return [];
      return Object.entries(state.usage[id] ?? {})
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
