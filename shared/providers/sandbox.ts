import { setTimeout as pause } from 'node:timers/promises';
import type { KeyPrefix } from '#shared/env.ts';
import type { PersonOutcome, PhoneOutcome } from './test-identities.ts';
import {
  abortedFailure,
  type CallSite,
  type Delivery,
  ProviderUnavailable,
  type UnavailableReason,
} from './unavailable.ts';

/** The name of the sandbox in both lists of providers: it answers in process by the test identities, and sends nothing. */
export const SANDBOX = 'sandbox';

/** The only phones that the sandbox accepts: 0999… in E.164. */
const SANDBOX_PHONE = /^\+98999[0-9]{7}$/;

export const isSandbox = (names: readonly string[]): boolean => names.includes(SANDBOX);

/** The sandbox works alone, and only where all keys are test keys. */
export const isSandboxAllowed = (names: readonly string[], keyPrefix: KeyPrefix): boolean =>
  !isSandbox(names) || (keyPrefix === 'blk_test_' && names.every((name) => name === SANDBOX));

/** Called at start-up, so that a wrong deployment serves nothing. */
export const assertSandboxAllowed = (names: readonly string[], keyPrefix: KeyPrefix): void => {
  if (isSandboxAllowed(names, keyPrefix)) return;
  throw new Error('the provider "sandbox" works only alone and with blk_test_ keys');
};

export const isSandboxPhone = (phone: string): boolean => SANDBOX_PHONE.test(phone);

/** The failure of a phone that the sandbox rejects as a provider does. */
export const rejectedNumber = (site: CallSite, detail?: string): ProviderUnavailable =>
  new ProviderUnavailable(site, 'rejected_number', { delivery: 'not_sent', detail });

/** Throws the failure of a phone (E.164) that the sandbox does not accept: no verdict, since it knows nothing about a real phone. */
export const assertSandboxPhone = (phone: string, site: CallSite): void => {
  if (isSandboxPhone(phone)) return;
  throw rejectedNumber(site, 'This deployment is a sandbox: it knows phones that begin with 0999 only.');
};

/** The failures of the outcomes that are no verdict; `slow` never responds. */
const FAILURES: Partial<Record<PersonOutcome | PhoneOutcome, readonly [UnavailableReason, Delivery]>> = {
  quota: ['quota', 'not_sent'],
  balance: ['balance', 'not_sent'],
  rejected: ['rejected', 'not_sent'],
  undecided: ['undecided', 'not_sent'],
  upstream_down: ['upstream', 'possibly_sent'],
  malformed: ['malformed', 'possibly_sent'],
  lost_response: ['transport', 'possibly_sent'],
};

/** Longer than any attempt: the signal of the attempt ends the wait. */
const LONGEST_WAIT_MS = 60_000;

/** Resolves if the outcome is a verdict, or undefined. */
export const failAs = async (
  outcome: PersonOutcome | PhoneOutcome | undefined,
  site: CallSite,
  signal: AbortSignal,
): Promise<void> => {
  if (outcome === 'slow') {
    // The timer keeps the function's event loop alive, as an open connection does; the timer of the signal does not.
    await pause(LONGEST_WAIT_MS, undefined, { signal }).catch(() => {});
    throw abortedFailure(site, signal, 'possibly_sent');
  }
  const failure = outcome && FAILURES[outcome];
  if (failure !== undefined) throw new ProviderUnavailable(site, failure[0], { delivery: failure[1] });
};
