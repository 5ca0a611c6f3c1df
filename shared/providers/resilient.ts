import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Clock, monotonicClock } from '#shared/clock.ts';
import { logEvent } from '#shared/log.ts';
import { timedCall } from '#shared/request-context.ts';
import type { SecretSource } from '#shared/secrets/port.ts';
import { type CircuitOptions, circuit } from './circuit.ts';
import { connection } from './connection.ts';
import type { Provider } from './provider.ts';
import { firstAvailable, withOneRetry } from './retry-and-failover.ts';
import { abortedFailure, type CallSite, ProviderUnavailable } from './unavailable.ts';

/** Options for tests; a deployment uses the defaults. */
export interface ResilienceOptions {
  /** Monotonic: it measures durations only. */
  readonly clock?: Clock;
  /** Makes the signal that aborts an attempt after so many milliseconds. */
  readonly timeoutSignal?: (timeoutMs: number) => AbortSignal;
  readonly retryPauseMs?: () => number;
  readonly circuit?: CircuitOptions;
}

/** How the calls of an operation are made. */
export interface OperationPolicy {
  readonly operation: string;
  /** True for inquiries. False for messages: they are never retried, and sent by the next provider only if the first did not. */
  readonly mayRepeat: boolean;
  readonly attemptTimeoutMs: number;
  /** The `outcome` of a successful call in the log. */
  readonly outcomeOf: (result: unknown) => string;
}

type Call<Port, T> = (port: Port, signal: AbortSignal) => Promise<T>;

/**
 * Calls the providers of a port, the first one first: failover over the providers → circuit of the provider's operation → one retry →
 * an attempt with its own timeout, logged as one billed call. Returns a function from a policy to the operation:
 * `run(signal, (port, signal) => port.…)`.
 */
export const resilient = <Port>(
  providers: readonly Provider<Port>[],
  secret: SecretSource,
  options: ResilienceOptions = {},
) => {
  const { clock = monotonicClock, timeoutSignal = AbortSignal.timeout, retryPauseMs } = options;
  const links = providers.map((provider) => ({
    provider: provider.name,
    ...connection(provider, secret, clock),
  }));

  return (policy: OperationPolicy) => {
    const targets = links.map((link) => {
      const site: CallSite = { provider: link.provider, operation: policy.operation };
      return { site, link, guard: circuit(site, clock, options.circuit) };
    });
    return <T>(signal: AbortSignal, call: Call<Port, T>): Promise<T> => {
      const calls = targets.map(({ site, link, guard }) => async () => {
        const attempt = async (number: 1 | 2) => {
          // If the other check of a person is rejected at once (its circuit is open), this one is aborted here, before it costs anything.
          await nextTurn();
          if (signal.aborted) throw abortedFailure(site, signal, 'not_sent');
          const port = await link.open(site, signal);
          const until = AbortSignal.any([signal, timeoutSignal(policy.attemptTimeoutMs)]);
          const use = () => link.use(port, (current) => call(current, until));
          return billedCall(site, number, { use, outcomeOf: policy.outcomeOf });
        };
        return guard(() => (policy.mayRepeat ? withOneRetry(attempt, signal, retryPauseMs) : attempt(1)));
      });
      return firstAvailable(calls, policy.mayRepeat);
    };
  };
};

/** Makes a call that the provider may bill, and writes its log line. */
const billedCall = async <T>(
  { provider, operation }: CallSite,
  attempt: 1 | 2,
  { use, outcomeOf }: { readonly use: () => Promise<T>; readonly outcomeOf: (result: T) => string },
): Promise<T> => {
  const startedAtMs = performance.now();
  let outcome = 'error';
  try {
    const result = await timedCall(`${provider}:${operation}`, use);
    outcome = outcomeOf(result);
    return result;
  } catch (error) {
    if (error instanceof ProviderUnavailable) outcome = error.reason;
    throw error;
  } finally {
    logEvent('provider_called', {
      provider,
      provider_operation: operation,
      outcome,
      duration_ms: Math.round(performance.now() - startedAtMs),
      attempt,
    });
  }
};
