import type { Clock } from '#shared/clock.ts';
import { logEvent } from '#shared/log.ts';
import type { Provider } from './provider.ts';
import { type CallSite, type Health, ProviderUnavailable } from './unavailable.ts';

export interface CircuitOptions {
  /** The number of consecutive failures that opens the circuit. */
  readonly failuresToOpen?: number;
  /** The time from opening until one call may probe the provider. */
  readonly openMs?: number;
}

type State =
  | { readonly is: 'closed'; failures: number }
  | { readonly is: 'open' | 'half_open'; readonly probeAtMs: number };

/**
 * The circuit of one operation of one provider, in memory: one service of a provider can be down while another works. After `openMs` one
 * call probes, and the next one if that has not ended after another `openMs`. Every call passes `enter` before, `leave` after it.
 */
export const circuit = (
  site: CallSite,
  monotonicClock: Clock,
  { failuresToOpen = 5, openMs = 10_000 }: CircuitOptions = {},
) => {
  let state: State = { is: 'closed', failures: 0 };

  const change = (next: State): State => {
    state = next;
    const { provider, operation: provider_operation } = site;
    logEvent('circuit_changed', { provider, provider_operation, state: next.is });
    return next;
  };

  return {
    /** Returns the state in which a call begins, or the failure `circuit_open`. */
    enter(): State | ProviderUnavailable {
      if (state.is === 'closed') return state;
      const waitMs = state.probeAtMs - monotonicClock();
      // A probe that has not ended by then is given up.
      if (waitMs <= 0) return change({ is: 'half_open', probeAtMs: monotonicClock() + openMs });
      const retryAfterSeconds = Math.ceil(Math.min(waitMs, openMs) / 1000);
      return new ProviderUnavailable(site, 'circuit_open', { delivery: 'not_reached', retryAfterSeconds });
    },

    /** Ignores a call if the state has changed since it began. */
    leave(entered: State, error?: unknown): void {
      if (entered !== state) return;
      const health = healthAfter(error);
      const nowMs = monotonicClock();
      if (entered.is === 'closed') {
        if (health === 'up') entered.failures = 0;
        if (health === 'down') entered.failures += 1;
        if (entered.failures >= failuresToOpen) change({ is: 'open', probeAtMs: nowMs + openMs });
      } else if (health === 'up') {
        change({ is: 'closed', failures: 0 });
      } else {
        // After a probe that says nothing the next call probes.
        change({ is: 'open', probeAtMs: health === 'down' ? nowMs + openMs : nowMs });
      }
    },
  };
};

export type CircuitOf = (operation: string) => ReturnType<typeof circuit>;

/** The circuits of a provider, by operation. Those of the sandbox never open: its failures are those of test identities. */
export const circuitsOf = (
  { name: provider, isSandbox }: Pick<Provider<unknown>, 'name' | 'isSandbox'>,
  monotonicClock: Clock,
  options: CircuitOptions | undefined,
): CircuitOf => {
  const limits = isSandbox ? { failuresToOpen: Infinity } : options;
  const circuits = new Map<string, ReturnType<typeof circuit>>();
  return (operation) => {
    const known = circuits.get(operation) ?? circuit({ provider, operation }, monotonicClock, limits);
    circuits.set(operation, known);
    return known;
  };
};

const healthAfter = (error: unknown): Health => {
  if (error === undefined) return 'up';
  return error instanceof ProviderUnavailable ? error.health : 'unknown';
};
