import { setTimeout as pause } from 'node:timers/promises';
import type { CloudWatchLogsClient, ResultField } from '@aws-sdk/client-cloudwatch-logs';
import { refusal } from '#admin/refusal.ts';
import { GATEWAY_PROBLEMS } from '#lib/gateway-problems.ts';
import { allRoutes } from '#shared/routes.ts';
import { linesQuery, requestsQuery } from './insights-query.ts';
import type { LoggedRequest, LogLine, Period, RequestLog } from './request-log.ts';

/** The wait before the state of a query is read again. A query of a day takes some seconds. */
const POLL_MS = 500;

const RUNNING = ['Scheduled', 'Running'];

type Row = Readonly<Record<string, string | undefined>>;

const rowOf = (fields: readonly ResultField[]): Row =>
  Object.fromEntries(fields.map(({ field = '', value }) => [field, value]));

/** `2026-11-21 13:38:01.123`, in UTC, as an ISO time. */
const isoTime = (row: Row): string => `${(row['@timestamp'] ?? '').replace(' ', 'T')}Z`;

/** Runs a query to its end. Its time limit is that of CloudWatch. */
const rowsOf = async (queryString: string, { since, until }: Period): Promise<Row[]> => {
  const { CloudWatchLogsClient, GetQueryResultsCommand, StartQueryCommand } = await import(
    '@aws-sdk/client-cloudwatch-logs'
  );
  const client: CloudWatchLogsClient = new CloudWatchLogsClient({});
  try {
    const { queryId } = await client.send(
      new StartQueryCommand({ queryString, startTime: since, endTime: until }),
    );
    for (;;) {
      const { status = '', results = [] } = await client.send(new GetQueryResultsCommand({ queryId }));
      if (status === 'Complete') return results.map(rowOf);
      if (!RUNNING.includes(status)) {
        throw refusal(
          'not_reachable',
          `CloudWatch ended the query with the status ${status}. Try a later --since.`,
        );
      }
      await pause(POLL_MS);
    }
  } finally {
    client.destroy();
  }
};

/** The problem code that API Gateway returned for a refusal of its own. */
const refusalCode = (row: Row): string | undefined =>
  (GATEWAY_PROBLEMS as Readonly<Record<string, string>>)[row.refusal ?? ''];

const requestOf = (row: Row): LoggedRequest => {
  const route = allRoutes.find(({ name }) => name === row.operation);
  return {
    request_id: row.request_id ?? '',
    at: isoTime(row),
    method: route?.method ?? row.method ?? '',
    path: route?.path ?? row.resource ?? '',
    status: Number(row.status),
    code: row.code ?? refusalCode(row) ?? null,
    duration_ms: Number(row.duration_ms ?? row.latency_ms),
    key_id: row.key_id ?? null,
  };
};

/** The metrics of a line, which begin with a capital letter, repeat its fields; its time is that of CloudWatch. */
const LEFT_OUT = /^(?:_aws|[A-Z].*|timestamp|time)$/;

const lineOf = (row: Row): LogLine => {
  const fields = Object.entries(JSON.parse(row['@message'] ?? '{}'));
  return { at: isoTime(row), ...Object.fromEntries(fields.filter(([name]) => !LEFT_OUT.test(name))) };
};

/** Returns the requests of a stage, which CloudWatch Logs Insights finds in its log groups. */
export const insightsLog = (stage: string): RequestLog => ({
  find: async (search) => (await rowsOf(requestsQuery(stage, search), search)).map(requestOf),
  linesOf: async (requestId, period) => (await rowsOf(linesQuery(stage, requestId), period)).map(lineOf),
});
