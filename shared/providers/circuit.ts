import type { Clock } from '#shared/clock.ts';
import { logEvent } from '#shared/log.ts';
import { type CallSite, ProviderUnavailable } from './unavailable.ts';

/** When the circuit opens, and for how long. */
export interface CircuitOptions {
  /** The number of consecutive failures that opens the circuit. */
  readonly failuresToOpen?: number;
  /** The time from opening until one call may probe the provider. */
  readonly openMs?: number;
}

/** Passes a call on while the provider is up. Rejects it at once, without a call, while it is not. */
export type Circuit = <T>(call: () => Promise<T>) => Promise<T>;

type State =
  | { readonly is: 'closed'; failures: number }
  | { readonly is: 'open'; readonly probeAtMs: number }
  | { readonly is: 'half_open' };

/**
 * The circuit of one operation of one provider, in memory. Each operation has its own: at night one service of a provider is down
 * while another works, so a shared count of consecutive failures would never reach the limit. The circuit opens after
 * `failuresToOpen` consecutive failures. After `openMs` one call probes: its success closes the circuit, its failure opens it for
 * another `openMs`. A call that ends in a later state than it began in changes nothing.
 */
export const circuit = (
  site: CallSite,
  monotonicClock: Clock,
  { failuresToOpen = 5, openMs = 10_000 }: CircuitOptions = {},
): Circuit => {
  let state: State = { is: 'closed', failures: 0 };

  const change = (next: State): State => {
    state = next;
    const { provider, operation: provider_operation } = site;
    logEvent('circuit_changed', { provider, provider_operation, state: next.is });
    return next;
  };

  const enter = (): State => {
    if (state.is === 'closed') return state;
    const waitMs = state.is === 'open' ? state.probeAtMs - monotonicClock() : openMs;
    if (waitMs <= 0) return change({ is: 'half_open' });
    const retryAfterSeconds = Math.ceil(Math.min(waitMs, openMs) / 1000);
    throw new ProviderUnavailable(site, 'circuit_open', { delivery: 'not_sent', retryAfterSeconds });
  };

  const leave = (entered: State, outcome: Outcome): void => {
    if (entered !== state) return;
    const nowMs = monotonicClock();
    if (entered.is === 'closed') {
      if (outcome === 'up') entered.failures = 0;
      if (outcome === 'failed') entered.failures += 1;
      if (entered.failures >= failuresToOpen) change({ is: 'open', probeAtMs: nowMs + openMs });
    } else if (outcome === 'up') {
      change({ is: 'closed', failures: 0 });
    } else {
      // After a probe with an unknown outcome the next call probes.
      change({ is: 'open', probeAtMs: outcome === 'failed' ? nowMs + openMs : nowMs });
    }
  };

  return async (call) => {
    const entered = enter();
    try {
      const result = await call();
      leave(entered, 'up');
      return result;
    } catch (error) {
      leave(entered, outcomeOf(error));
      throw error;
    }
  };
};

/** What a call says about the provider. */
type Outcome = 'up' | 'failed' | 'unknown';

const outcomeOf = (error: unknown): Outcome => {
  if (!(error instanceof ProviderUnavailable)) return 'unknown';
  switch (error.reason) {
    case 'rejected':
    case 'undecided':
      return 'up';
    case 'aborted':
    case 'misconfigured':
      return 'unknown';
    default:
      return 'failed';
  }
};
