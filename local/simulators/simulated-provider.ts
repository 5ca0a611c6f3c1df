import type { IncomingHttpHeaders } from 'node:http';
import type { ApiFault, WireFault } from './faults.ts';

/** A request as a simulator receives it. */
export interface SimulatedRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A response in the provider's format, or a transport fault for this request. */
export type SimulatedReply =
  | { readonly status: number; readonly json: unknown }
  | { readonly wireFault: WireFault; readonly json?: unknown };

/** One simulated provider: its documented wire format, and the checks that the provider makes. */
export interface SimulatedProvider {
  /** Returns its section of the provider secret, for a simulator at this address. */
  credentials(baseUrl: string): Readonly<Record<string, unknown>>;
  /** Returns the name of the operation; undefined for an unknown path. */
  operationOf(request: SimulatedRequest): string | undefined;
  /** Responds to a request of a known operation, with the error of `fault` if there is one. */
  respond(request: SimulatedRequest, operation: string, fault: ApiFault | undefined): SimulatedReply;
  /** The response to an unknown path. */
  readonly unknownPath: SimulatedReply;
}

/** Parses a body. Returns undefined if it is not a JSON object. */
export const jsonFields = (body: string): Readonly<Record<string, unknown>> | undefined => {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
};
