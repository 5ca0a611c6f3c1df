/** The faults that a simulated provider can be given, for all its callers. */
import type { ServerResponse } from 'node:http';

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
const WIRE_FAULTS = {
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
  upgrade: 'HTTP 101, and an open connection.',
} as const;

/** A fault in the provider's own format. */
export type ApiFault = keyof typeof API_FAULTS;
/** A fault of the transport or of the format. */
export type WireFault = keyof typeof WIRE_FAULTS;
export type Fault = ApiFault | WireFault;

/** Returns whether a fault is in the provider's own format. */
export const isApiFault = (fault: Fault): fault is ApiFault => Object.hasOwn(API_FAULTS, fault);

const JSON_TYPE = { 'Content-Type': 'application/json; charset=utf-8' };
const HUGE_BYTES = 5 * 1024 * 1024;
const TRICKLE_MS = 100;

/** The TLS record with the alert `handshake_failure`, which a TLS server sends to a client without TLS. */
const TLS_ALERT = Buffer.from([0x15, 0x03, 0x01, 0x00, 0x02, 0x02, 0x28]);

/** Fails a request with a wire fault. `json` is the provider's response without the fault. */
export const applyWireFault = (fault: WireFault, response: ServerResponse, json: unknown = {}): void =>
  APPLY[fault](response, json);

const reset = (response: ServerResponse): void => {
  response.socket?.resetAndDestroy();
};

const APPLY: Readonly<Record<WireFault, (response: ServerResponse, json: unknown) => void>> = {
  html_instead_of_json(response) {
    response.writeHead(200, { 'Content-Type': 'text/html' });
    response.end('<!doctype html><title>Scheduled maintenance</title><p>We will be back soon.</p>');
  },
  truncated_body(response, json) {
    const body = JSON.stringify(json);
    response.writeHead(200, { ...JSON_TYPE, 'Content-Length': body.length + 100 });
    response.write(body.slice(0, -1), () => response.socket?.end());
  },
  wrong_types(response, json) {
    response.writeHead(200, JSON_TYPE);
    response.end(JSON.stringify(mistyped(json)));
  },
  huge_body(response, json) {
    response.writeHead(200, JSON_TYPE);
    response.end(`${' '.repeat(HUGE_BYTES)}${JSON.stringify(json)}`);
  },
  redirect(response) {
    const port = response.socket?.localPort;
    response.writeHead(307, { Location: `http://127.0.0.1:${port}/moved` });
    response.end();
  },
  reset,
  // The connection was opened while the port was closing.
  connection_refused: reset,
  slow_headers() {
    // The connection ends when the caller or the simulator closes it.
  },
  slow_body(response) {
    response.writeHead(200, JSON_TYPE);
    // White space before JSON is valid, so a reader has to wait for the rest.
    const trickle = setInterval(() => response.write(' '), TRICKLE_MS);
    trickle.unref();
    response.on('close', () => clearInterval(trickle));
    response.write(' ');
  },
  tls_refusal(response) {
    response.socket?.end(TLS_ALERT);
  },
  upgrade(response) {
    response.socket?.write(
      'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
    );
  },
};

/** Replaces every string with a number and every other value with a string, at every level. */
const mistyped = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(mistyped);
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, mistyped(inner)]));
  }
  return typeof value === 'string' ? 0 : String(value);
};
