import { apiStackName } from '#lib/outputs.ts';
import type { RequestSearch } from './request-log.ts';

/** A query may have 10,000 characters. A seller has few keys; of more than these, only the newest are asked for. */
const MAX_KEYS = 250;

/** The most lines that are read about one request. */
const MAX_LINES = 1000;

/** Returns how the names of a stage's log groups begin: CloudFormation derives them from the name of the stack. */
export const logGroupPrefix = (stage: string): string => `${apiStackName(stage)}-`;

const quoted = (values: readonly string[]): string => values.map((value) => `'${value}'`).join(', ');

const queryOf = (stage: string, commands: readonly string[]): string =>
  [`SOURCE logGroups(namePrefix: [${quoted([logGroupPrefix(stage)])}])`, ...commands].join('\n| ');

/** Returns the condition for a beginning of the status: `4` is 400 to 499. The access log has it as text, which Insights compares as a number. */
const statusRange = (status: string): string =>
  `status >= ${status.padEnd(3, '0')} and status <= ${status.padEnd(3, '9')}`;

/**
 * Returns the query for requests of a seller. A function logs each request that reached it, with the seller; the access log has those
 * that API Gateway refused or that got no response of a function, with the key. All values are ids or digits, so none of them needs
 * quoting: commands/logs.ts and the table see to it.
 */
export const requestsQuery = (
  stage: string,
  { sellerId, keyIds, status, limit }: Omit<RequestSearch, 'since' | 'until'>,
): string => {
  const completed = `(event = 'request_completed' and seller_id = '${sellerId}')`;
  const refused = `(refusal like /[A-Z]/ and key_id in [${quoted(keyIds.slice(0, MAX_KEYS))}])`;
  return queryOf(stage, [
    'fields @timestamp, request_id, operation, method, resource, status, code',
    'fields refusal, duration_ms, latency_ms, key_id',
    `filter ${keyIds.length === 0 ? completed : `${completed} or ${refused}`}`,
    ...(status === undefined ? [] : [`filter ${statusRange(status)}`]),
    'sort @timestamp desc',
    `limit ${limit}`,
  ]);
};

/** Returns the query for the log lines about a request: those of the authorizer, the function and the access log. */
export const linesQuery = (stage: string, requestId: string): string =>
  queryOf(stage, [
    'fields @timestamp, @message',
    `filter request_id = '${requestId}'`,
    'sort @timestamp asc',
    `limit ${MAX_LINES}`,
  ]);
