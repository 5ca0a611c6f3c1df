import type { Clock } from '#shared/clock.ts';
import { logEvent } from '#shared/log.ts';
import { type CallSite, ProviderUnavailable, type UnavailableReason } from './unavailable.ts';

/** When the circuit opens, and for how long. */
export interface CircuitOptions {
  /** The number of consecutive failures that opens the circuit. */
  readonly failuresToOpen?: number;
  /** The time from opening until one call may probe the provider. */
  readonly openMs?: number;
}

/** Passes calls on while a provider is up. Rejects them at once, without a call, while it is not. */
export interface Circuit {
  run<T>(call: () => Promise<T>): Promise<T>;
}

const FAILURES_TO_OPEN = 5;
const OPEN_MS = 10_000;

/** The provider responded, so it is up. */
const PROVIDER_IS_UP: readonly UnavailableReason[] = ['rejected', 'undecided'];
/** The call says nothing about the provider. */
const STATE_UNKNOWN: readonly UnavailableReason[] = ['aborted', 'misconfigured'];

type Outcome = 'up' | 'failed' | 'unknown';

const outcomeOf = (error: unknown): Outcome => {
  if (!(error instanceof ProviderUnavailable) || STATE_UNKNOWN.includes(error.reason)) return 'unknown';
  return PROVIDER_IS_UP.includes(error.reason) ? 'up' : 'failed';
};

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
  { failuresToOpen = FAILURES_TO_OPEN, openMs = OPEN_MS }: CircuitOptions = {},
): Circuit => {
  let state: State = { is: 'closed', failures: 0 };

  const change = (next: State): State => {
    if (next.is !== state.is) logChange(site, next);
    state = next;
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
    if (entered.is === 'closed') {
      entered.failures = { up: 0, failed: entered.failures + 1, unknown: entered.failures }[outcome];
      if (entered.failures >= failuresToOpen) change({ is: 'open', probeAtMs: monotonicClock() + openMs });
    } else if (outcome === 'up') {
      change({ is: 'closed', failures: 0 });
    } else {
      // After a probe with an unknown outcome the next call probes.
      change({ is: 'open', probeAtMs: monotonicClock() + (outcome === 'failed' ? openMs : 0) });
    }
  };

  return {
    async run(call) {
      const entered = enter();
      try {
        const result = await call();
        leave(entered, 'up');
        return result;
      } catch (error) {
        leave(entered, outcomeOf(error));
        throw error;
      }
    },
  };
};

const logChange = ({ provider, operation }: CallSite, state: State): void =>
  logEvent('circuit_changed', {
    provider,
    provider_operation: operation,
    state: state.is,
  });
