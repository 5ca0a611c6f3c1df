import type { Completed } from '../gateway.ts';

/** A request as the local page shows it. */
export interface JournalEntry {
  readonly id: string;
  /** ISO, UTC: when the response was sent. */
  readonly at: string;
  readonly method: string;
  /** The path of the route; undefined for an unknown path. */
  readonly path: string | undefined;
  readonly status: number;
  readonly duration_ms: number;
  readonly problem: Completed['problem'];
  /** The seller and the key, and the other fields of the request's completion line in the log: plan, calls with their milliseconds, cause of a 5xx. */
  readonly log: Readonly<Record<string, unknown>>;
}

const MAX_ENTRIES = 200;

/** The fields of a completion line that the entry has anyway, and those that are no news to a person. */
const LEFT_OUT = ['timestamp', 'level', 'event', 'request_id', 'status', 'code', 'outcome', 'duration_ms'];
const IS_METRIC = /^_aws$|^[A-Z]/;

/** Keeps the last 200 requests in memory: what the gateway reports, with the completion line that the function logged before. */
export const requestJournal = () => {
  const entries: JournalEntry[] = [];
  /** Request id -> the fields of its completion line, until the request is reported. */
  const logged = new Map<string, JournalEntry['log']>();
  return {
    /** Takes a line of the log. */
    onLogLine(line: string): void {
      if (!line.includes('"event":"request_completed"')) return;
      const { request_id, ...fields } = JSON.parse(line);
      const shown = Object.entries(fields).filter(
        ([name]) => !LEFT_OUT.includes(name) && !IS_METRIC.test(name),
      );
      logged.set(request_id, Object.fromEntries(shown));
      // A function that ran out of time logs its line after the report.
      if (logged.size > MAX_ENTRIES) logged.delete(logged.keys().next().value as string);
    },
    /** Takes a request that the gateway reports. */
    onCompleted(
      { requestId, method, route, status, problem, durationMs, caller }: Completed,
      now = new Date(),
    ): void {
      entries.unshift({
        id: requestId,
        at: now.toISOString(),
        method,
        path: route?.path,
        status,
        duration_ms: durationMs,
        problem,
        log: { ...caller, ...logged.get(requestId) },
      });
      logged.delete(requestId);
      entries.length = Math.min(entries.length, MAX_ENTRIES);
    },
    /** Returns the entries, the newest first. */
    entries: (): readonly JournalEntry[] => entries,
  };
};

export type RequestJournal = ReturnType<typeof requestJournal>;
