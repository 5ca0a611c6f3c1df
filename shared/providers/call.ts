import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { type Clock, monotonicClock } from '#shared/clock.ts';
import { logEvent } from '#shared/log.ts';
import { currentRequest } from '#shared/request-context.ts';
import type { SecretSource } from '#shared/secrets/secret-source.ts';
import { type CircuitOptions, circuitsOf } from './circuit.ts';
import { inSecretOrder, type OpenPort, type Provider, portOpener } from './provider.ts';
import { abortedFailure, type CallSite, DELIVERIES, ProviderUnavailable } from './unavailable.ts';

/** Options for tests; a deployment uses the defaults. */
export interface CallOptions {
  /** Monotonic: it measures durations only. */
  readonly clock?: Clock;
  /** Makes the signal that aborts an attempt after so many milliseconds. */
  readonly timeoutSignal?: (timeoutMs: number) => AbortSignal;
  readonly retryPauseMs?: () => number;
  readonly circuit?: CircuitOptions;
}

export interface CallPolicy {
  readonly operation: string;
  /** True for inquiries. False for messages: they are never retried, and sent by the next provider only if the first did not. */
  readonly mayRepeat: boolean;
  readonly attemptTimeoutMs: number;
  /** The `outcome` of a successful call in the log. */
  readonly outcomeOf: (result: unknown) => string;
}

type PortRequest<Port, T> = (port: Port, signal: AbortSignal) => Promise<T>;

/** Failures that a second attempt can avoid. A timeout is not one: the caller has waited once, and the second call would hang too. */
const RETRIED: readonly string[] = ['transport', 'upstream'];

/** 100 to 300 ms, random, so that callers that failed together do not retry together. */
const RETRY_PAUSE_MS = () => 100 + Math.random() * 200;

export const providerCalls = <Port>(
  providers: readonly Provider<Port>[],
  secret: SecretSource,
  { clock = monotonicClock, timeoutSignal, retryPauseMs = RETRY_PAUSE_MS, circuit: limits }: CallOptions = {},
) => {
  const targets = providers.map((provider) => ({
    provider: provider.name,
    openPort: portOpener(provider, secret),
    circuitOf: circuitsOf(provider.name, clock, limits),
  }));

  /**
   * Calls the providers in their order until one returns a result, except those whose circuit is open. Retries an inquiry once after a
   * transport or upstream error. Calls no other provider after a message that was possibly sent: a phone never receives two codes.
   */
  return async <T>(policy: CallPolicy, signal: AbortSignal, request: PortRequest<Port, T>): Promise<T> => {
    const { operation, mayRepeat } = policy;
    const failures: ProviderUnavailable[] = [];
    const sites = targets.map((target) => ({ ...target, operation }));
    for (const { provider, openPort, circuitOf } of await inSecretOrder(sites, secret, signal)) {
      const circuit = circuitOf(operation);
      const entered = circuit.enter();
      if (entered instanceof ProviderUnavailable) {
        failures.push(entered);
        continue;
      }

      const call = { site: { provider, operation }, policy, signal, openPort, request, timeoutSignal };
      try {
        const result = await attempt(call, 1).catch(async (error: unknown) => {
          if (!mayRepeat || !isRetried(error) || !(await hasPaused(retryPauseMs(), signal))) throw error;
          return attempt(call, 2);
        });
        circuit.leave(entered);
        return result;
      } catch (error) {
        circuit.leave(entered, error);
        if (!(error instanceof ProviderUnavailable)) throw error;
        failures.push(error);
        const mayFailOver = mayRepeat || error.delivery !== 'possibly_sent';
        if (error.reason === 'aborted' || !mayFailOver) break;
      }
    }
    throw combined(failures);
  };
};

interface Call<Port, T> {
  readonly site: CallSite;
  readonly policy: CallPolicy;
  readonly signal: AbortSignal;
  readonly openPort: OpenPort<Port>;
  readonly request: PortRequest<Port, T>;
  readonly timeoutSignal: CallOptions['timeoutSignal'];
}

/** Attempts a call with the timeout of its operation. Logs the attempt if a request was made, since the provider may bill it. */
const attempt = async <Port, T>(
  { site, policy, signal, openPort, request, timeoutSignal = AbortSignal.timeout }: Call<Port, T>,
  number: 1 | 2,
): Promise<T> => {
  let startedAtMs: number | undefined;
  let outcome = 'error';
  try {
    // Both checks of a person begin in the same turn. If one fails at once (its circuit is open), it aborts this one before it is billed.
    await nextTurn();
    if (signal.aborted) throw abortedFailure(site, signal, 'not_reached');
    const port = await openPort(site, signal);
    startedAtMs = performance.now();
    const result = await request(port, AbortSignal.any([signal, timeoutSignal(policy.attemptTimeoutMs)]));
    outcome = policy.outcomeOf(result);
    return result;
  } catch (error) {
    if (error instanceof ProviderUnavailable) outcome = error.reason;
    throw error;
  } finally {
    if (startedAtMs !== undefined) {
      logCall(site, { number, outcome, ms: performance.now() - startedAtMs });
    }
  }
};

const logCall = (
  { provider, operation }: CallSite,
  { number, outcome, ms }: { readonly number: number; readonly outcome: string; readonly ms: number },
): void => {
  const duration_ms = Math.round(ms);
  currentRequest()?.calls.push({ target: `${provider}:${operation}`, ms: duration_ms });
  logEvent('provider_called', {
    provider,
    provider_operation: operation,
    outcome,
    duration_ms,
    attempt: number,
  });
  if (outcome === 'no_verdict') {
    logEvent('provider_response_unreadable', { provider, provider_operation: operation });
  }
};

const isRetried = (error: unknown): boolean =>
  error instanceof ProviderUnavailable && RETRIED.includes(error.reason);

/** Returns false if the signal has aborted meanwhile. */
const hasPaused = (ms: number, signal: AbortSignal): Promise<boolean> =>
  pause(ms, true, { signal }).catch(() => false);

/** Returns the failure of the last provider that was called, with the shortest `retryAfterSeconds` and the furthest delivery of all. */
const combined = (failures: readonly ProviderUnavailable[]): Error => {
  const failure = failures.findLast(({ wasCalled }) => wasCalled) ?? failures.at(-1);
  if (failure === undefined) return new Error('no provider is configured');
  if (failures.length === 1) return failure;
  const { reason, cause } = failure;
  const waits = failures.flatMap(({ retryAfterSeconds }) => retryAfterSeconds ?? []);
  const retryAfterSeconds = waits.length === 0 ? undefined : Math.min(...waits);
  const delivery =
    DELIVERIES.findLast((of) => failures.some((one) => one.delivery === of)) ?? failure.delivery;
  return new ProviderUnavailable(failure, reason, { delivery, cause, retryAfterSeconds });
};
