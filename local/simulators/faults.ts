/** Every way in which a simulated provider can be made to fail, for all its callers. */

/** Failures that a provider tells in its own words. */
export const WORDED_FAULTS = {
  unauthorized: 'The credentials are refused.',
  token_expired: 'Access tokens are refused as expired, new ones too.',
  quota: 'The quota of the account is used up.',
  balance: 'The account has no credit.',
  blocked_address: 'The address of the caller is not allowed.',
  upstream_down: 'HTTP 503: what stands behind the provider is down.',
  server_error: 'HTTP 500: an internal error.',
  error_in_200: 'HTTP 200 with an error inside.',
  undecided: 'The provider answers that it cannot tell.',
} as const;

/** Failures of the line, whatever the provider would have said. */
export const WIRE_FAULTS = {
  html_instead_of_json: 'HTTP 200 with a page of HTML.',
  truncated_body: 'The connection ends in the middle of the body.',
  wrong_types: 'The right fields, each with a value of a wrong type.',
  huge_body: 'A right answer of several megabytes.',
  redirect: 'HTTP 307 to another address.',
  reset: 'The connection is reset once the request has arrived.',
  connection_refused: 'Nobody listens at the port.',
  slow_headers: 'No answer ever comes.',
  slow_body: 'The headers come, the body never ends.',
  tls_refusal: 'A TLS alert instead of an answer, as from a port that speaks TLS.',
} as const;

export const FAULTS = { ...WORDED_FAULTS, ...WIRE_FAULTS } as const;

export type WordedFault = keyof typeof WORDED_FAULTS;
export type WireFault = keyof typeof WIRE_FAULTS;
export type Fault = keyof typeof FAULTS;

export const FAULT_NAMES = Object.keys(FAULTS) as readonly Fault[];

export const isWordedFault = (fault: string | undefined): fault is WordedFault =>
  fault !== undefined && Object.hasOwn(WORDED_FAULTS, fault);
