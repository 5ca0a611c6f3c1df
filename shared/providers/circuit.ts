import type { Clock } from '#shared/clock.ts';
import { logEvent } from '#shared/log.ts';
import { type CallSite, ProviderUnavailable, type UnavailableReason, unavailable } from './unavailable.ts';

export interface CircuitOptions {
  /** So many failures in a row open it. */
  readonly failuresToOpen?: number;
  /** How long it stays open before one call may probe. */
  readonly openMs?: number;
}

/** Lets calls through while a provider is well; while it is not, refuses them at once. */
export interface Circuit {
  run<T>(call: () => Promise<T>): Promise<T>;
}

const FAILURES_TO_OPEN = 5;
const OPEN_MS = 10_000;

/** The provider answered, or was not asked: no sign that it is unwell. */
const NOT_ITS_FAULT: readonly UnavailableReason[] = ['rejected', 'undecided'];
/** Nothing was learnt of the provider. */
const SAYS_NOTHING: readonly UnavailableReason[] = ['aborted', 'misconfigured'];

type Outcome = 'well' | 'failed' | 'unknown';

const outcomeOf = (error: unknown): Outcome => {
  if (!(error instanceof ProviderUnavailable) || SAYS_NOTHING.includes(error.reason)) return 'unknown';
  return NOT_ITS_FAULT.includes(error.reason) ? 'well' : 'failed';
};

type State =
  | { readonly is: 'closed'; failures: number }
  | { readonly is: 'open'; readonly probeAtMs: number }
  | { readonly is: 'half_open' };

/**
 * The circuit of one operation of one provider, in memory. An operation has its own, since at night one of a provider's services
 * rests while the other works: a shared count of failures in a row would never get there. Opens after some failures in a row; after a
 * while one call probes: if it goes well the circuit closes, if not it stays open for as long again. What ends late, having begun
 * under an earlier state, changes nothing.
 */
export const circuit = (
  site: CallSite,
  clock: Clock,
  { failuresToOpen = FAILURES_TO_OPEN, openMs = OPEN_MS }: CircuitOptions = {},
): Circuit => {
  let state: State = { is: 'closed', failures: 0 };

  const change = (next: State): State => {
    if (next.is !== state.is) {
      logEvent('circuit_changed', {
        provider: site.provider,
        provider_operation: site.operation,
        state: next.is,
      });
    }
    state = next;
    return next;
  };

  const enter = (): State => {
    if (state.is === 'closed') return state;
    if (state.is === 'open' && clock() >= state.probeAtMs) return change({ is: 'half_open' });
    const waitMs = state.is === 'open' ? state.probeAtMs - clock() : openMs;
    throw unavailable(site, 'circuit_open', {
      refused: true,
      retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)),
    });
  };

  const leave = (entered: State, outcome: Outcome): void => {
    if (entered !== state) return;
    if (entered.is === 'closed') {
      entered.failures = { well: 0, failed: entered.failures + 1, unknown: entered.failures }[outcome];
      if (entered.failures >= failuresToOpen) change({ is: 'open', probeAtMs: clock() + openMs });
    } else if (outcome === 'well') {
      change({ is: 'closed', failures: 0 });
    } else {
      // A probe that was called off leaves the probing to the next call.
      change({ is: 'open', probeAtMs: clock() + (outcome === 'failed' ? openMs : 0) });
    }
  };

  return {
    async run(call) {
      const entered = enter();
      try {
        const result = await call();
        leave(entered, 'well');
        return result;
      } catch (error) {
        leave(entered, outcomeOf(error));
        throw error;
      }
    },
  };
};
