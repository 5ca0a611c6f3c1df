import type { ProblemCode } from '#shared/problems.ts';

/** What a target may not have. A scenario that needs it is skipped there, by this name. */
export type Feature =
  /** A usage plan's token bucket in front of the service's own rate limiter. */
  | 'usage-plan throttle'
  /** Refusals made by the gateway have the contract's body and headers. */
  | 'gateway problem bodies'
  /** Keys are judged at all, and a usage id that is in no plan is refused. */
  | 'exact key enforcement'
  /** Codes that were sent can be read back. */
  | 'sent messages'
  /** The registry and the SMS provider know the special test identities. */
  | 'test identities';

/** One message that went out by SMS. */
export interface SentCode {
  readonly phone: string;
  readonly code: string;
  readonly sent_at: string;
}

/** A running service, wherever it runs, with keys that are in its table. */
export interface Target {
  /** Without a slash at its end. */
  readonly baseUrl: string;
  /** The `iss` of its tokens. */
  readonly issuer: string;
  readonly sellerId: string;
  /** All of one seller. `free` is on the free plan, the others on the professional one. */
  readonly keys: {
    readonly free: string;
    readonly professional: string;
    readonly read_only: string;
    readonly write_only: string;
    readonly app: string;
  };
  /** Another seller; its key holds users:read and users:write. */
  readonly otherSeller: { readonly seller_id: string; readonly key: string };
  /** Its gateway refuses in words of its own, which the published document does not know. */
  readonly hasForeignRefusals?: boolean;
  /** What was sent to a phone (E.164), newest first. */
  messages(phone: string): Promise<readonly SentCode[]>;
}

/** What scenarios are built with: the target is known only once it runs, what it lacks is known before. */
export interface ScenarioOptions {
  readonly target: () => Target;
  readonly lacks?: readonly Feature[];
}

/** `it`, or `it.skip` with the names of what the target lacks. */
export const itWith = ({ lacks = [] }: ScenarioOptions, ...needed: readonly Feature[]) => {
  const missing = needed.filter((feature) => lacks.includes(feature));
  return (title: string, run: () => Promise<void>, timeoutMs?: number): void => {
    const [test, reason] = missing.length > 0 ? [it.skip, ` (not here: ${missing.join(', ')})`] : [it, ''];
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
  readonly errors?: readonly {
    readonly pointer?: string;
    readonly parameter?: string;
    readonly detail: string;
  }[];
}
