import type { Delivery, UnavailableReason } from '#shared/providers/unavailable.ts';
import type { Fault, WireFault } from '#test/simulators/faults.ts';

/** The reason of a failure, and what became of the call. */
export type Said = `${UnavailableReason}, ${Delivery}`;

/** What the ports say of each fault of the transport or of the format, whichever provider has it. */
export const saidOfWireFaults: Readonly<Record<WireFault, Said>> = {
  html_instead_of_json: 'malformed, possibly_sent',
  truncated_body: 'transport, possibly_sent',
  wrong_types: 'no_verdict, possibly_sent',
  huge_body: 'malformed, possibly_sent',
  redirect: 'malformed, possibly_sent',
  reset: 'transport, possibly_sent',
  connection_refused: 'transport, not_reached',
  slow_headers: 'timeout, possibly_sent',
  slow_body: 'timeout, possibly_sent',
  tls_refusal: 'transport, possibly_sent',
  upgrade: 'malformed, possibly_sent',
};

/** Whether an attempt ends by its timeout alone. */
export const isSlow = (fault: Fault): boolean => fault === 'slow_headers' || fault === 'slow_body';

const CREDENTIALS: readonly string[] = ['api_key', 'secret_key', 'token', 'template_id'];

/** Returns the credentials in a section of the provider secret. */
export const credentialsIn = (section: unknown): string[] => {
  const credentials = Object.entries(section as Record<string, unknown>)
    .filter(([name]) => CREDENTIALS.includes(name))
    .map(([, value]) => String(value));
  expect(credentials).not.toEqual([]);
  return credentials;
};
