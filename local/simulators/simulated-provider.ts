import type { IncomingHttpHeaders } from 'node:http';
import type { WireFault, WordedFault } from './faults.ts';

/** A request as it came over the wire. */
export interface SimulatedRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** An answer in the provider's own format, or a failure of the line that this request meets. */
export type SimulatedReply =
  | { readonly status: number; readonly json: unknown }
  | { readonly wireFault: WireFault; readonly json?: unknown };

/** One provider, simulated: the wire format as its documentation gives it, and the checks that it would make. */
export interface SimulatedProvider {
  /** Its section of the provider secret, for a simulator that listens at this address. */
  credentials(baseUrl: string): Readonly<Record<string, unknown>>;
  /** What is asked for, in the words of the counters; undefined if there is no such path. */
  operationOf(request: SimulatedRequest): string | undefined;
  /** Answers a request of a known operation; `fault` is to be told in the provider's words. */
  answer(request: SimulatedRequest, operation: string, fault: WordedFault | undefined): SimulatedReply;
  /** What it says to a path that it does not have. */
  readonly unknownPath: SimulatedReply;
}
