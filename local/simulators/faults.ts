/** The faults that a simulated provider can be given, for all its callers. */

/** Errors in the provider's own format. */
const API_FAULTS = {
  unauthorized: 'The credentials are refused.',
  token_expired: 'Access tokens are refused as expired, new ones too.',
  quota: 'The quota of the account is used up.',
  balance: 'The account has no credit.',
  blocked_address: 'The address of the caller is not allowed.',
  upstream_down: 'HTTP 503: a system behind the provider is down.',
  server_error: 'HTTP 500: an internal error.',
  error_in_200: 'HTTP 200 with an error in the body.',
  undecided: 'The provider responds that it cannot decide.',
} as const;

/** Failures of the transport, or a response that is not in the provider's format. */
export const WIRE_FAULTS = {
  html_instead_of_json: 'HTTP 200 with an HTML page.',
  truncated_body: 'The connection closes in the middle of the body.',
  wrong_types: 'The right fields, each with a value of a wrong type.',
  huge_body: 'A valid response of several megabytes.',
  redirect: 'HTTP 307 to another address.',
  reset: 'The connection is reset after the request has arrived.',
  connection_refused: 'The port is closed.',
  slow_headers: 'The response never begins.',
  slow_body: 'The headers arrive, the body never ends.',
  tls_refusal: 'A TLS alert instead of a response, as from a port that expects TLS.',
} as const;

/** Every fault, with its meaning. */
export const FAULTS = { ...API_FAULTS, ...WIRE_FAULTS } as const;

/** A fault in the provider's own format. */
export type ApiFault = keyof typeof API_FAULTS;
/** A fault of the transport or of the format. */
export type WireFault = keyof typeof WIRE_FAULTS;
export type Fault = keyof typeof FAULTS;

export const FAULT_NAMES = Object.keys(FAULTS) as readonly Fault[];

/** Returns whether a fault is in the provider's own format. */
export const isApiFault = (fault: string | undefined): fault is ApiFault =>
  fault !== undefined && Object.hasOwn(API_FAULTS, fault);
