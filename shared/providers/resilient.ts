import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Clock, monotonicClock } from '#shared/clock.ts';
import { logEvent } from '#shared/log.ts';
import { timedCall } from '#shared/request-context.ts';
import type { SecretSource } from '#shared/secrets/port.ts';
import { type CircuitOptions, circuit } from './circuit.ts';
import { type Connection, connection } from './connection.ts';
import type { Provider } from './provider.ts';
import { firstAvailable, type MayFailOver, withOneRetry } from './retry-and-failover.ts';
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
  /** Only for calls that may be repeated. */
  readonly retries: boolean;
  readonly attemptTimeoutMs: number;
  readonly mayFailOver: MayFailOver;
  /** The `outcome` of a successful call in the log. */
  readonly outcomeOf: (result: unknown) => string;
}

type Call<Port, T> = (port: Port, signal: AbortSignal) => Promise<T>;

/** One operation of a port, over all its providers: `run(signal, (port, signal) => port.…)`. */
export type ResilientOperation<Port> = <T>(signal: AbortSignal, call: Call<Port, T>) => Promise<T>;

/**
 * Calls the providers of a port, the first one first: failover over the providers → circuit of the provider's operation → one retry →
 * an attempt with its own timeout, logged as one billed call.
 */
export const resilient = <Port>(
  providers: readonly Provider<Port>[],
  secret: SecretSource,
  options: ResilienceOptions = {},
) => {
  const {
    clock = monotonicClock,
    timeoutSignal = (ms: number) => AbortSignal.timeout(ms),
    retryPauseMs,
  } = options;
  const connections = providers.map((provider) => ({
    name: provider.name,
    link: connection(provider, secret, clock),
  }));

  return (policy: OperationPolicy): ResilientOperation<Port> => {
    const targets = connections.map(({ name, link }) => {
      const site: CallSite = { provider: name, operation: policy.operation };
      return { site, link, guard: circuit(site, clock, options.circuit) };
    });
    return (signal, call) => {
      const calls = targets.map(({ site, link, guard }) => () => {
        const attempt = (number: 1 | 2) =>
          billedAttempt({ site, link, policy, number, timeoutSignal }, signal, call);
        return guard.run(() => (policy.retries ? withOneRetry(attempt, signal, retryPauseMs) : attempt(1)));
      });
      return firstAvailable(calls, policy.mayFailOver);
    };
  };
};

interface Attempt<Port> {
  readonly site: CallSite;
  readonly link: Connection<Port>;
  readonly policy: OperationPolicy;
  readonly number: 1 | 2;
  readonly timeoutSignal: (timeoutMs: number) => AbortSignal;
}

/** Makes one call that a provider may bill, and writes its log line. */
const billedAttempt = async <Port, T>(
  { site, link, policy, number, timeoutSignal }: Attempt<Port>,
  signal: AbortSignal,
  call: Call<Port, T>,
): Promise<T> => {
  // If the other check of a person is rejected at once (its circuit is open), this one is aborted here, before it costs anything.
  await nextTurn();
  if (signal.aborted) throw abortedFailure(site, signal, 'not_sent');
  const port = await link.open(site, signal);
  const startedAtMs = performance.now();
  const log = (outcome: string) =>
    logEvent('provider_called', {
      provider: site.provider,
      provider_operation: site.operation,
      outcome,
      duration_ms: Math.round(performance.now() - startedAtMs),
      attempt: number,
    });
  const attemptSignal = AbortSignal.any([signal, timeoutSignal(policy.attemptTimeoutMs)]);
  try {
    const result = await timedCall(`${site.provider}:${site.operation}`, () =>
      link.use(port, (current) => call(current, attemptSignal)),
    );
    log(policy.outcomeOf(result));
    return result;
  } catch (error) {
    log(error instanceof ProviderUnavailable ? error.reason : 'error');
    throw error;
  }
};
