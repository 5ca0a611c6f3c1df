import type { Fault, WireFault } from '#test/simulators/faults.ts';
import type { Said } from './failure.ts';

/** What the ports say of each fault of the transport or of the format, whichever provider has it. */
export const saidOfWireFaults: Readonly<Record<WireFault, Said>> = {
  html_instead_of_json: 'malformed, possibly_sent, down',
  truncated_body: 'transport, possibly_sent, down',
  wrong_types: 'no_verdict, possibly_sent, unknown',
  huge_body: 'malformed, possibly_sent, down',
  redirect: 'malformed, possibly_sent, down',
  reset: 'transport, possibly_sent, down',
  connection_refused: 'transport, not_reached, down',
  slow_headers: 'timeout, possibly_sent, down',
  slow_body: 'timeout, possibly_sent, down',
  tls_refusal: 'transport, possibly_sent, down',
  upgrade: 'malformed, possibly_sent, down',
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
