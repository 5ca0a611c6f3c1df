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
  /** The call that begins at `probeAtMs` or later probes, and begins a new open state. */
  | { readonly is: 'open'; readonly probeAtMs: number };

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

  const open = (): void => {
    state = { is: 'open', probeAtMs: monotonicClock() + openMs };
    const { provider, operation: provider_operation } = site;
    logEvent('provider_failed', { provider, provider_operation, reason: 'circuit_open' });
  };

  return {
    /** Returns the state in which a call begins, or the failure `circuit_open`. */
    enter(): State | ProviderUnavailable {
      if (state.is === 'closed') return state;
      const waitMs = state.probeAtMs - monotonicClock();
      // A probe that has not ended by then no longer counts.
      if (waitMs <= 0) {
        state = { is: 'open', probeAtMs: monotonicClock() + openMs };
        return state;
      }
      const retryAfterSeconds = Math.ceil(Math.min(waitMs, openMs) / 1000);
      return new ProviderUnavailable(site, 'circuit_open', { delivery: 'not_reached', retryAfterSeconds });
    },

    /** Ignores a call if the state has changed since it began. */
    leave(entered: State, error?: unknown): void {
      if (entered !== state) return;
      const health = healthAfter(error);
      if (entered.is === 'closed') {
        if (health === 'up') entered.failures = 0;
        if (health === 'down') entered.failures += 1;
        if (entered.failures >= failuresToOpen) open();
      } else if (health === 'up') {
        state = { is: 'closed', failures: 0 };
      } else if (health === 'down') {
        open();
      } else {
        // The probe said nothing: the next call probes.
        state = { is: 'open', probeAtMs: monotonicClock() };
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
