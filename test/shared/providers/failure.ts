import { inspect } from 'node:util';
import {
  type Delivery,
  type Health,
  ProviderUnavailable,
  type UnavailableReason,
} from '#shared/providers/unavailable.ts';

/** The reason of a failure, what became of the call, and what it says about the provider. */
export type Said = `${UnavailableReason}, ${Delivery}, ${Health}`;

/** Returns the failure of a call that must fail with ProviderUnavailable. */
export const failureOf = async (call: Promise<unknown>): Promise<ProviderUnavailable> => {
  const error = await call.then(
    (result) => new Error(`returned ${String(result)}`),
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(ProviderUnavailable);
  return error as ProviderUnavailable;
};

/** Returns the fields of a failure that decide about retry, failover, the cool-down and the circuit. */
export const summaryOf = ({ reason, delivery, health }: ProviderUnavailable): Said =>
  `${reason}, ${delivery}, ${health}`;

/** Returns everything that a log, a debugger or a tracer could find in an error, hidden fields included. */
export const everythingIn = (error: unknown): string =>
  inspect(error, {
    depth: Infinity,
    showHidden: true,
    getters: true,
    maxStringLength: null,
    maxArrayLength: null,
  });

/** Long enough for the beginning of a response, and for no outcome of a test. */
const RESPONSE_MS = 20;

/** Returns the signal of a timeout that begins when a call has arrived at its simulator, on a busy machine too. */
export const timeoutAfter = (arrived: Promise<unknown>): AbortSignal => {
  const timeout = new AbortController();
  const abort = () => timeout.abort(new DOMException('The call took too long', 'TimeoutError'));
  void arrived.then(() => setTimeout(abort, RESPONSE_MS));
  return timeout.signal;
};

/** Returns a signal that never aborts. */
export const neverAborted = (): AbortSignal => new AbortController().signal;
