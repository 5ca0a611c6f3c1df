import type { IncomingHttpHeaders } from 'node:http';
import { isValidJalaaliDate } from 'jalaali-js';
import { parseJson } from '#shared/providers/reply.ts';
import type { PersonOutcome, PhoneOutcome } from '#shared/providers/test-identities.ts';
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
  /** Its section of the provider secret, without the address. */
  readonly credentials: Readonly<Record<string, unknown>>;
  /** Returns the name of the operation; undefined for an unknown path. */
  operationOf(request: SimulatedRequest): string | undefined;
  /** Responds to a request of a known operation, with the error of `fault` if there is one. */
  respond(request: SimulatedRequest, operation: string, fault: ApiFault | undefined): SimulatedReply;
  /** The response to an unknown path. */
  readonly unknownPath: SimulatedReply;
}

/** The response of a provider for each fault, and for a person or phone that it rejects. */
export type FaultReplies = Readonly<Record<ApiFault | 'rejected', SimulatedReply>>;

/** Returns the failure of a test person or a test phone; undefined for anybody else, and for a verdict. */
export const failureOf = (
  outcome: PersonOutcome | PhoneOutcome | undefined,
  replies: FaultReplies,
): SimulatedReply | undefined => {
  switch (outcome) {
    case 'quota':
    case 'balance':
    case 'upstream_down':
    case 'undecided':
    case 'rejected':
      return replies[outcome];
    case 'slow':
      return { wireFault: 'slow_headers' };
    case 'malformed':
      return { wireFault: 'html_instead_of_json' };
    case 'lost_response':
      return { wireFault: 'reset' };
    default:
      return undefined;
  }
};

/** Parses a body. Returns undefined if it is not a JSON object. */
export const jsonFields = (body: string): Readonly<Record<string, unknown>> | undefined => {
  const value = parseJson(body);
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject ? (value as Record<string, unknown>) : undefined;
};

/** Returns whether a value is a day of the Solar Hijri calendar. `form` has a group each for year, month and day. */
export const isDay = (value: unknown, form: RegExp): boolean => {
  const [year = 0, month = 0, day = 0] = form.exec(String(value))?.slice(1).map(Number) ?? [];
  return isValidJalaaliDate(year, month, day);
};
