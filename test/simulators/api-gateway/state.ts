import type { PlanName } from '#shared/rate-limits/plans.ts';

/** A key as the simulated API Gateway keeps it. */
export interface StoredKey {
  readonly id: string;
  readonly name: string;
  /** The usage id. */
  readonly value: string;
  readonly enabled: boolean;
  /** The usage plan of the key: at most one of the stage. */
  readonly plan?: PlanName;
}

/** The state of the simulated API Gateway. */
export interface State {
  /** By key id. */
  readonly keys: Map<string, StoredKey>;
}
