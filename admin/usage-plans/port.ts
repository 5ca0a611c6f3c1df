import type { PlanName } from '#shared/rate-limits/plans.ts';

/** A key as API Gateway holds it. `value` is the usage id: opaque, and no secret. */
export interface GatewayKey {
  readonly id: string;
  readonly name: string;
  readonly value: string;
  readonly enabled: boolean;
}

/** The requests that API Gateway counted for a key on one day (UTC, `2026-11-21`). */
export interface DayUsage {
  readonly day: string;
  readonly requests: number;
}

/**
 * What is asked of API Gateway's management. Every method may be called again after an interruption: what is done already is no
 * error. Nothing here knows a secret of a seller.
 */
export interface UsagePlans {
  /** Registers a key; one with the same value that is there already is given back. Throws Refusal `key_quota_reached`. */
  createKey(key: Omit<GatewayKey, 'id'>): Promise<GatewayKey>;
  /** Deletes a key; one that is gone is no error. */
  deleteKey(id: string): Promise<void>;
  /** Throws if there is no such key. */
  setEnabled(id: string, enabled: boolean): Promise<void>;
  /** Every key of this deployment, known by the beginning of its name. */
  listKeys(namePrefix: string): AsyncIterable<GatewayKey>;
  /** How many keys the account has in this Region, whoever made them, counted no further than `atMost`. */
  countKeys(atMost: number): Promise<number>;
  /** Puts a key into a plan; one that is in it already is no error. A key has one plan: take it out of the other first. */
  attach(id: string, plan: PlanName): Promise<void>;
  /** Takes a key out of a plan; one that is not in it is no error. */
  detach(id: string, plan: PlanName): Promise<void>;
  /** The ids of the keys that are in a plan, and their names. */
  listMembers(plan: PlanName): AsyncIterable<Pick<GatewayKey, 'id' | 'name'>>;
  /** Requests by day, first and last day included; days without any are left out. */
  usage(id: string, plan: PlanName, firstDay: string, lastDay: string): Promise<readonly DayUsage[]>;
  /** Makes the gateway forget every judgement of the authorizer: API Gateway cannot forget one. */
  flushAuthorizerCache(): Promise<void>;
}

/** API Gateway holds no more keys than this in an account's Region, and raises it for nobody. */
export const KEY_QUOTA = 10_000;

/** From here on `keys issue` warns: 80 %. */
export const KEY_QUOTA_WARNING = 8_000;
