import type { ServerResponse } from 'node:http';
import type { WireFault } from './faults.ts';

const JSON_TYPE = { 'Content-Type': 'application/json; charset=utf-8' };
const HUGE_BYTES = 5 * 1024 * 1024;
const TRICKLE_MS = 100;

/** The TLS record with the alert `handshake_failure`, which a TLS server sends to a client without TLS. */
const TLS_ALERT = Buffer.from([0x15, 0x03, 0x01, 0x00, 0x02, 0x02, 0x28]);

/** Fails a request with a wire fault. `json` is the provider's response without the fault. */
export const applyWireFault = (fault: WireFault, response: ServerResponse, json: unknown = {}): void =>
  APPLY[fault](response, json);

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
  reset(response) {
    response.socket?.resetAndDestroy();
  },
  connection_refused(response) {
    // The connection was opened while the port was closing.
    response.socket?.resetAndDestroy();
  },
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
};

/** Replaces every string with a number and every other value with a string, at every level. */
const mistyped = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(mistyped);
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, mistyped(inner)]));
  }
  return typeof value === 'string' ? 0 : String(value);
};
