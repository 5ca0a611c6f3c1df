import type { ProblemCode } from '#shared/problems.ts';

/** A feature that a target may lack. A scenario that requires it is skipped there, and its title names the feature. */
export type Feature =
  /** The contract's body and headers in the refusals of the gateway. */
  | 'gateway problem bodies'
  /** An authorizer that checks keys, and a refusal of a usage id that is in no plan. */
  | 'exact key enforcement'
  /** The sandbox as registry and SMS provider: the test identities, and codes by their rule. */
  | 'sandbox';

/** A running service, local or deployed, with keys of its table. */
export interface Target {
  /** Without a slash at the end. */
  readonly baseUrl: string;
  /** The `iss` of its tokens. */
  readonly issuer: string;
  readonly sellerId: string;
  /** Keys of one seller. `free` is on the free plan, the others on the professional plan. */
  readonly keys: {
    readonly free: string;
    readonly professional: string;
    readonly read_only: string;
    readonly write_only: string;
    readonly app: string;
    /** Holds users:read, users:write and events:read. */
    readonly events: string;
    /** Holds users:read and key:rotate. */
    readonly rotate: string;
  };
  /** Another seller; its key holds users:read and users:write. */
  readonly otherSeller: { readonly seller_id: string; readonly key: string };
  /** Its gateway refuses with bodies that the published document does not have. */
  readonly hasForeignRefusals?: boolean;
}

/** The target exists only once it runs; the features that it lacks are known before. */
export interface ScenarioOptions {
  readonly target: () => Target;
  readonly lacks?: readonly Feature[];
}

/** Returns `it`, or `it.skip` with the names of the features that the target lacks. */
export const itWith = ({ lacks = [] }: ScenarioOptions, ...needed: readonly Feature[]) => {
  const missing = needed.filter((feature) => lacks.includes(feature));
  return (title: string, run: () => Promise<void>, timeoutMs?: number): void => {
    const [test, reason] =
      missing.length > 0 ? [it.skip, ` (target lacks: ${missing.join(', ')})`] : [it, ''];
    test(`${title}${reason}`, run, timeoutMs);
  };
};

/** The body of a problem. */
export interface ProblemBody {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly code: ProblemCode;
  readonly detail: string;
  readonly request_id: string;
  readonly reason?: string;
  readonly retry_after?: number;
  readonly errors?: readonly {
    readonly pointer?: string;
    readonly parameter?: string;
    readonly code: string;
    readonly detail: string;
  }[];
}
