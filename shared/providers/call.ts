import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { type Clock, monotonicClock } from '#shared/clock.ts';
import { logEvent } from '#shared/log.ts';
import { currentRequest } from '#shared/request-context.ts';
import type { SecretSource } from '#shared/secrets/secret-source.ts';
import { type CircuitOf, type CircuitOptions, circuitsOf } from './circuit.ts';
import { inSecretOrder, type OpenPort, type Provider, portOpener } from './provider.ts';
import {
  abortedFailure,
  type CallSite,
  DELIVERIES,
  ProviderUnavailable,
  type UnavailableReason,
} from './unavailable.ts';

/** The ports whose providers a stage can choose. */
export type PortName = 'identity-registry' | 'sms';

/** Options for tests; a deployment uses the defaults. */
export interface CallOptions {
  /** Monotonic: it measures durations only. */
  readonly clock?: Clock;
  /** Makes the signal that aborts an attempt after so many milliseconds. */
  readonly timeoutSignal?: (timeoutMs: number) => AbortSignal;
  readonly retryPauseMs?: () => number;
  readonly circuit?: CircuitOptions;
}

/** How a method of a port is called. */
export interface CallPolicy<Method, Result> {
  /** The name of the port in logs and metrics. */
  readonly port: PortName;
  readonly method: Method;
  /** The name of the method in errors, logs and metrics. */
  readonly operation: string;
  /** True for inquiries. False for messages: they are never retried, and sent by the next provider only if the first did not. */
  readonly mayRepeat: boolean;
  readonly attemptTimeoutMs: number;
  /** The `outcome` of a successful call in the log. */
  readonly outcomeOf: (result: Result) => string;
}

/** What is called of a port: a method that takes `Args`, then the signal that ends it. */
type PortWith<Method extends string, Args extends readonly unknown[], Result> = Readonly<
  Record<Method, (...args: [...Args, AbortSignal]) => Promise<Result>>
>;

/** Failures that a second attempt can avoid. A timeout is not one: the caller has waited once, and the second call would hang too. */
const RETRIED: readonly UnavailableReason[] = ['transport', 'upstream'];

const MAX_ATTEMPTS = 2;

/** 100 to 300 ms, random, so that callers that failed together do not retry together. */
export const randomPauseMs = () => 100 + Math.random() * 200;

/** The providers of a port, in the order of the stage, with their circuits and opened ports. */
interface ConnectedProviders<Port> {
  readonly targets: readonly Target<Port>[];
  readonly secret: SecretSource;
  readonly timeoutSignal: (timeoutMs: number) => AbortSignal;
  readonly retryPauseMs: () => number;
}

interface Target<Port> {
  readonly provider: string;
  readonly isSandbox: boolean;
  readonly openPort: OpenPort<Port>;
  readonly circuitOf: CircuitOf;
}

export const connectProviders = <Port>(
  providers: readonly Provider<Port>[],
  secret: SecretSource,
  {
    clock = monotonicClock,
    timeoutSignal = AbortSignal.timeout,
    retryPauseMs = randomPauseMs,
    circuit: limits,
  }: CallOptions = {},
): ConnectedProviders<Port> => ({
  targets: providers.map((provider) => ({
    provider: provider.name,
    isSandbox: provider.isSandbox === true,
    openPort: portOpener(provider, secret),
    circuitOf: circuitsOf(provider, clock, limits),
  })),
  secret,
  timeoutSignal,
  retryPauseMs,
});

export interface Call<Method, Args, Result> {
  readonly policy: CallPolicy<Method, Result>;
  readonly args: Args;
  readonly signal: AbortSignal;
}

/**
 * Calls the providers in their order until one returns a result, except those whose circuit is open. Calls no other provider after a message
 * that was possibly sent: a phone never receives two codes.
 */
export const callProviders = async <Method extends string, Args extends readonly unknown[] | [], Result>(
  providers: NoInfer<ConnectedProviders<PortWith<Method, Args, Result>>>,
  call: Call<Method, Args, Result>,
): Promise<Result> => {
  const { operation, mayRepeat } = call.policy;
  const sites = providers.targets.map((target) => ({ ...target, operation }));
  const failures: ProviderUnavailable[] = [];
  for (const site of await inSecretOrder(sites, providers.secret, call.signal)) {
    const circuit = site.circuitOf(operation);
    const entered = circuit.enter();
    if (entered instanceof ProviderUnavailable) {
      failures.push(entered);
      continue;
    }

    try {
      const result = await callProvider(providers, site, call);
      circuit.leave(entered);
      logPortCall(call.policy, { unavailable: 0, taken_over: failures.some(isOfProvider) ? 1 : 0 });
      return result;
    } catch (error) {
      circuit.leave(entered, error);
      if (!(error instanceof ProviderUnavailable)) throw error;
      failures.push(error);
      if (!site.isSandbox) logFailure(site, error);
      const mayFailOver = mayRepeat || error.delivery !== 'possibly_sent';
      if (error.reason === 'aborted' || !mayFailOver) break;
    }
  }
  const failure = combined(failures);
  // A check that the caller gave up, since the other one had failed, says nothing about the providers.
  if (!(failure instanceof ProviderUnavailable && failure.reason === 'aborted')) {
    const isOfNumber = failures.some(({ reason }) => reason === 'rejected_number');
    logPortCall(call.policy, { unavailable: isOfNumber ? 0 : 1, taken_over: 0 });
  }
  throw failure;
};

/** Whether a failure says something about the provider, and not about the person, the phone or the text of one call. */
const isOfProvider = ({ reason }: ProviderUnavailable): boolean =>
  reason !== 'rejected' && reason !== 'rejected_number' && reason !== 'undecided';

const logPortCall = (
  { port, operation }: Pick<CallPolicy<unknown, unknown>, 'port' | 'operation'>,
  outcome: { readonly unavailable: 0 | 1; readonly taken_over: 0 | 1 },
): void => logEvent('port_called', { port, provider_operation: operation, ...outcome });

/** Calls one provider. Repeats an inquiry once after a transport or upstream error. Throws the failure of the last attempt. */
const callProvider = async <Method extends string, Args extends readonly unknown[], Result>(
  { timeoutSignal, retryPauseMs }: Pick<ConnectedProviders<unknown>, 'timeoutSignal' | 'retryPauseMs'>,
  site: Site<PortWith<Method, Args, Result>>,
  call: Call<Method, Args, Result>,
): Promise<Result> => {
  const { policy, signal } = call;
  const maxAttempts = policy.mayRepeat ? MAX_ATTEMPTS : 1;
  const failures: ProviderUnavailable[] = [];
  for (;;) {
    try {
      return await attempt(site, call, { number: failures.length + 1, timeoutSignal });
    } catch (error) {
      if (!(error instanceof ProviderUnavailable)) throw error;
      failures.push(error);
      const mayRetry = failures.length < maxAttempts && RETRIED.includes(error.reason);
      if (!mayRetry || !(await hasPaused(retryPauseMs(), signal))) throw combined(failures);
    }
  }
};

interface Site<Port> extends CallSite {
  readonly openPort: OpenPort<Port>;
}

/** Attempts a call with the timeout of its operation. Logs the attempt if a request was made, since the provider may bill it. */
const attempt = async <Method extends string, Args extends readonly unknown[], Result>(
  site: Site<PortWith<Method, Args, Result>>,
  { policy, args, signal }: Call<Method, Args, Result>,
  {
    number,
    timeoutSignal,
  }: { readonly number: number; readonly timeoutSignal: (timeoutMs: number) => AbortSignal },
): Promise<Result> => {
  let startedAtMs: number | undefined;
  let outcome = 'error';
  try {
    // Both checks of a person begin in the same turn. If one fails at once (its circuit is open), it aborts this one before it is billed.
    await nextTurn();
    if (signal.aborted) throw abortedFailure(site, signal, 'not_reached');
    const port = await site.openPort(site, signal);
    startedAtMs = performance.now();
    const until = AbortSignal.any([signal, timeoutSignal(policy.attemptTimeoutMs)]);
    const result = await port[policy.method](...args, until);
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
};

/** The reasons of failures that the provider's alarm counts one by one. Of the others it counts the opening of the circuit. */
const FAILED_REASONS: Partial<Record<UnavailableReason, string>> = {
  malformed: 'unreadable',
  no_verdict: 'unreadable',
  credentials: 'credentials',
  blocked: 'blocked',
  quota: 'quota',
  balance: 'balance',
};

const logFailure = (
  { provider, operation }: CallSite,
  { reason, health }: Pick<ProviderUnavailable, 'reason' | 'health'>,
): void => {
  const isCodedUpstream = reason === 'upstream' && health === 'up';
  const failed = isCodedUpstream ? reason : FAILED_REASONS[reason];
  if (failed === undefined) return;
  logEvent('provider_failed', { provider, provider_operation: operation, reason: failed });
};

/** Returns false if the signal has aborted meanwhile. */
const hasPaused = (ms: number, signal: AbortSignal): Promise<boolean> =>
  pause(ms, true, { signal }).catch(() => false);

/** False if the failure was known before an attempt was made. */
const wasAttempted = ({ reason }: ProviderUnavailable): boolean =>
  reason !== 'circuit_open' && reason !== 'misconfigured';

/** Returns the failure of the last attempt, if any was made, with the shortest `retryAfterSeconds` and the furthest delivery of all. */
const combined = (failures: readonly ProviderUnavailable[]): Error => {
  const failure = failures.findLast(wasAttempted) ?? failures.at(-1);
  if (failure === undefined) return new Error('no provider is configured');
  if (failures.length === 1) return failure;
  const { reason, health, cause } = failure;
  const waits = failures.flatMap(({ retryAfterSeconds }) => retryAfterSeconds ?? []);
  const retryAfterSeconds = waits.length === 0 ? undefined : Math.min(...waits);
  const delivery =
    DELIVERIES.findLast((of) => failures.some((one) => one.delivery === of)) ?? failure.delivery;
  return new ProviderUnavailable(failure, reason, { delivery, health, cause, retryAfterSeconds });
};
