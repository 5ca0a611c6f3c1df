import type { PlanName } from '#shared/rate-limits/plans.ts';

/** A key of API Gateway. `value` is the usage id: opaque, and not the secret. */
export interface GatewayKey {
  readonly id: string;
  readonly name: string;
  readonly value: string;
  readonly enabled: boolean;
}

/** The decisions of the authorizer that API Gateway keeps for five minutes. */
export interface AuthorizerCache {
  /** Forgets the decisions on all keys. API Gateway cannot forget a single one. */
  flush(): Promise<void>;
}

/**
 * The keys and usage plans of API Gateway. Every method can be repeated after an interruption: if the work is done already, it succeeds.
 * No method gets a seller's secret.
 */
export interface UsagePlans {
  /** Creates a key, or returns the existing key with the same name and value. Throws `key_quota_reached`. */
  createKey(key: Omit<GatewayKey, 'id'>): Promise<GatewayKey>;
  /** Deletes a key. Succeeds if it does not exist. */
  deleteKey(id: string): Promise<void>;
  /** Throws if the key does not exist. */
  setEnabled(id: string, enabled: boolean): Promise<void>;
  /** Lists the keys whose names begin with the prefix. */
  listKeys(namePrefix: string): AsyncIterable<GatewayKey>;
  /** Counts all keys of the account in this Region, up to `atMost`. */
  countKeys(atMost: number): Promise<number>;
  /** Puts a key into a plan. Succeeds if it is in it. A key can have one plan, so detach it from the other plan first. */
  attach(id: string, plan: PlanName): Promise<void>;
  /** Takes a key out of a plan. Succeeds if it is not in it. */
  detach(id: string, plan: PlanName): Promise<void>;
  /** Lists the ids and names of the keys in a plan. */
  listMembers(plan: PlanName): AsyncIterable<Pick<GatewayKey, 'id' | 'name'>>;
}

/** The maximum number of API keys of an account in one Region. AWS does not raise it. */
export const KEY_QUOTA = 10_000;

/** From this number of keys on, 80 % of the quota, `keys issue` warns. */
export const KEY_QUOTA_WARNING = 8_000;
