/** A time range, in epoch seconds. */
export interface Period {
  readonly since: number;
  readonly until: number;
}

/** Which requests of a seller to find. */
export interface RequestSearch extends Period {
  readonly sellerId: string;
  /** The keys of the seller: a request that API Gateway refuses is logged with its key only. */
  readonly keyIds: readonly string[];
  /** The beginning of the status, such as `4` or `409`; undefined for any. */
  readonly status: string | undefined;
  readonly limit: number;
}

/** A request as `--json` shows it. */
export interface LoggedRequest {
  readonly request_id: string;
  /** ISO, UTC. */
  readonly at: string;
  readonly method: string;
  /** The path of the route, without ids and queries. */
  readonly path: string;
  readonly status: number;
  /** The problem code of an error. */
  readonly code: string | null;
  readonly duration_ms: number;
  readonly key_id: string | null;
}

/** A log line about a request, as `--json` shows it: its time and its fields. */
export interface LogLine {
  /** ISO, UTC. */
  readonly at: string;
  readonly [field: string]: unknown;
}

/** Where a deployment keeps its requests. */
export interface RequestLog {
  /** Returns requests of a seller, the newest first. */
  find(search: RequestSearch): Promise<readonly LoggedRequest[]>;
  /** Returns the log lines about a request, the oldest first. */
  linesOf(requestId: string, period: Period): Promise<readonly LogLine[]>;
}
