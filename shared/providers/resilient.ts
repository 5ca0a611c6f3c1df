import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '#shared/clock.ts';
import { systemClock } from '#shared/clock.ts';
import { logEvent } from '#shared/log.ts';
import type { SecretSource } from '#shared/secrets/port.ts';
import { type CircuitOptions, circuit } from './circuit.ts';
import { type Connection, connection } from './connection.ts';
import { firstAvailable, type MayGoOn } from './failover.ts';
import type { Provider } from './provider.ts';
import { withOneRetry } from './retry.ts';
import { type CallSite, ProviderUnavailable, unavailableBy } from './unavailable.ts';

/** What a test may say of time; a deployment takes the defaults. */
export interface ResilienceOptions {
  readonly clock?: Clock;
  readonly attemptTimeoutMs?: number;
  readonly retryPauseMs?: () => number;
  readonly circuit?: CircuitOptions;
}

/** How an operation is to be treated. */
export interface OperationPolicy {
  readonly operation: string;
  /** Only for what may be done twice. */
  readonly retries: boolean;
  readonly attemptTimeoutMs: number;
  readonly mayGoOn: MayGoOn;
  /** What the metric of a call that went well says. */
  readonly outcomeOf: (result: unknown) => string;
}

type Call<Port, T> = (port: Port, signal: AbortSignal) => Promise<T>;

/** One operation of a port, over all its providers: `run(signal, (port, signal) => port.…)`. */
export type ResilientOperation<Port> = <T>(signal: AbortSignal, call: Call<Port, T>) => Promise<T>;

/**
 * The providers of a port, the first one first. Each call goes: failover over the providers → circuit of the provider's operation →
 * one retry → an attempt with its own time, counted as one billed call.
 */
export const resilient = <Port>(
  providers: readonly Provider<Port>[],
  secret: SecretSource,
  options: ResilienceOptions = {},
) => {
  const clock = options.clock ?? systemClock;
  const connections = providers.map((provider) => ({
    name: provider.name,
    connection: connection(provider, secret, clock),
  }));

  return (policy: OperationPolicy): ResilientOperation<Port> => {
    const lines = connections.map(({ name, connection: link }) => {
      const site: CallSite = { provider: name, operation: policy.operation };
      return { site, link, guard: circuit(site, clock, options.circuit) };
    });
    const timeoutMs = options.attemptTimeoutMs ?? policy.attemptTimeoutMs;
    return (signal, call) =>
      firstAvailable(
        lines.map(({ site, link, guard }) => () => {
          const attempt = (number: 1 | 2) =>
            billedAttempt({ site, link, policy, number, timeoutMs }, signal, call);
          return guard.run(() =>
            policy.retries ? withOneRetry(attempt, signal, options.retryPauseMs) : attempt(1),
          );
        }),
        policy.mayGoOn,
      );
  };
};

interface Attempt<Port> {
  readonly site: CallSite;
  readonly link: Connection<Port>;
  readonly policy: OperationPolicy;
  readonly number: 1 | 2;
  readonly timeoutMs: number;
}

/** One call that a provider may bill, and its one line in the log. */
const billedAttempt = async <Port, T>(
  { site, link, policy, number, timeoutMs }: Attempt<Port>,
  signal: AbortSignal,
  call: Call<Port, T>,
): Promise<T> => {
  // If the other check of a person has been refused at once (its circuit is open), this one is called off before it costs anything.
  await nextTurn();
  if (signal.aborted) throw unavailableBy(site, signal, true);
  const port = await link.open(site, signal);
  const startedAt = performance.now();
  const log = (outcome: string) =>
    logEvent('provider_called', {
      provider: site.provider,
      provider_operation: site.operation,
      outcome,
      duration_ms: Math.round(performance.now() - startedAt),
      attempt: number,
    });
  const timed = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  try {
    const result = await link.use(port, (current) => call(current, timed));
    log(policy.outcomeOf(result));
    return result;
  } catch (error) {
    log(error instanceof ProviderUnavailable ? error.reason : 'error');
    throw error;
  }
};
