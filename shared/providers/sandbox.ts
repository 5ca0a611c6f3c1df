import { setTimeout as pause } from 'node:timers/promises';
import type { KeyPrefix } from '#shared/api-keys/format.ts';
import { abortedFailure, type CallSite, type Delivery } from './unavailable.ts';

/** The name of the sandbox in both lists of providers: it answers in process by the test identities, and sends nothing. */
export const SANDBOX = 'sandbox';

/** The only phones that the sandbox accepts: 0999… in E.164. */
const SANDBOX_PHONE = /^\+98999[0-9]{7}$/;

/** Longer than any attempt: the signal of the attempt ends the wait. */
const LONGEST_WAIT_MS = 60_000;

/** Returns whether providers (the names of one port, or of both) are the sandbox. */
export const isSandbox = (names: readonly string[]): boolean => names.includes(SANDBOX);

/** Returns whether a deployment may call these providers. The sandbox works alone, and only where all keys are test keys. */
export const isSandboxAllowed = (names: readonly string[], keyPrefix: KeyPrefix): boolean =>
  !isSandbox(names) || (keyPrefix === 'blk_test_' && names.every((name) => name === SANDBOX));

/** Throws if the deployment may not call these providers. Called at start-up, so that a wrong deployment serves nothing. */
export const assertSandboxAllowed = (names: readonly string[], keyPrefix: KeyPrefix): void => {
  if (isSandboxAllowed(names, keyPrefix)) return;
  throw new Error('the provider "sandbox" works only alone and with blk_test_ keys');
};

/** Returns whether the sandbox accepts a phone (E.164). */
export const isSandboxPhone = (phone: string): boolean => SANDBOX_PHONE.test(phone);

/** Behaves as a provider that never responds: throws when the attempt is aborted. */
export const neverRespond = async (
  site: CallSite,
  signal: AbortSignal,
  delivery: Delivery,
): Promise<never> => {
  // The timer keeps the function's event loop alive, as an open connection does; the timer of the signal does not.
  await pause(LONGEST_WAIT_MS, undefined, { signal }).catch(() => {});
  throw abortedFailure(site, signal, delivery);
};
