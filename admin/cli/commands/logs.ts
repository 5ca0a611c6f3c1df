import { Option } from 'commander';
import { linesQuery, logGroupPrefix, requestsQuery } from '#admin/cli/logs/insights-query.ts';
import type { LoggedRequest, LogLine, Period } from '#admin/cli/logs/request-log.ts';
import { sellerNamed } from '#admin/operations/lookup.ts';
import { refusal } from '#admin/refusal.ts';
import type { AddCommands, CommandResult, Session } from '../command.ts';
import { UsageError } from '../errors.ts';
import { parsePast, parseRequestId, parseStatus, wholeNumberUpTo } from '../option-parsers.ts';
import type { Block } from '../render.ts';
import { isoOf } from '../times.ts';

const MAX_REQUESTS = 1000;
const DAY_SECONDS = 86_400;

interface LogsOptions {
  readonly seller?: string;
  readonly request?: string;
  readonly status?: string;
  readonly limit: number;
  /** Epoch seconds. */
  readonly since: number;
  readonly until?: number;
  readonly query?: boolean;
}

/** The beginning of an id of the local service, as `npm start` shows it too. Ids of a stage are short. */
const shownId = (id: string): string => id.replace(/^([0-9a-f]{8})-.*/, '$1');

/** Formats requests for a terminal of 80 columns. */
const terminalTable = (requests: readonly LoggedRequest[]): Block => ({
  head: ['time (UTC)', 'status', 'request', 'ms', 'request id'],
  rows: requests.map(({ at, status, code, method, path, duration_ms, request_id }) => [
    at.slice(5, 19).replace('T', ' '),
    code === null ? status : `${status} ${code}`,
    `${method} ${path}`,
    duration_ms,
    shownId(request_id),
  ]),
  items: 'requests',
});

/** Formats requests for a pipe: one value in each column. */
const pipeTable = (requests: readonly LoggedRequest[]): Block => ({
  head: ['time (UTC)', 'status', 'code', 'method', 'path', 'ms', 'key', 'request id'],
  rows: requests.map(({ at, status, code, method, path, duration_ms, key_id, request_id }) => [
    at,
    status,
    code ?? '',
    method,
    path,
    duration_ms,
    key_id ?? '',
    request_id,
  ]),
  items: 'requests',
});

const textOf = (value: unknown): string =>
  Array.isArray(value) ? value.join(' ') : typeof value === 'object' ? JSON.stringify(value) : String(value);

/** Formats a log line: its time, then the fields that have a value. */
const lineBlock = ({ at, ...fields }: LogLine): Block => ({
  properties: [
    ['time (UTC)', at.slice(0, 23).replace('T', ' ')],
    ...Object.entries(fields)
      .map(([name, value]) => [name.replaceAll('_', ' '), textOf(value)] as const)
      .filter(([, text]) => text !== '' && text !== '-'),
  ],
});

interface Owner {
  readonly sellerId: string;
  readonly keyIds: readonly string[];
}

/** Returns the seller with its keys, the newest first. */
const ownerOf = async ({ admin }: Session, seller: string): Promise<Owner> => {
  const { seller_id: sellerId } = await sellerNamed(admin, seller);
  const keys = await admin.keys.listOf(sellerId);
  return {
    sellerId,
    keyIds: keys.sort((a, b) => b.created_at.localeCompare(a.created_at)).map(({ key_id }) => key_id),
  };
};

/** Shows the command of the AWS CLI that starts a query. No value in a query needs an escape between double quotes. */
const shownQuery = ({ admin, aws }: Session, query: string, { since, until }: Period): CommandResult => {
  if (aws === undefined) throw new UsageError('--query is for a stage in AWS. Name one: --stage prod.');
  const prefix = logGroupPrefix(admin.stage);
  return {
    json: { query, log_group_prefix: prefix, region: aws.region, since, until },
    text: `aws logs start-query --region ${aws.region} --start-time ${since} --end-time ${until} --query-string "${query}"\n`,
    note: `It prints a query id for: aws logs get-query-results --query-id <id>. In the CloudWatch console, leave out the line SOURCE and choose the log groups that begin with ${prefix}.`,
  };
};

const showRequest = async (session: Session, requestId: string, period: Period, owner?: Owner) => {
  const lines = await session.requests.linesOf(requestId, period);
  if (lines.length === 0) {
    const where =
      session.aws === undefined
        ? 'The local service keeps the last 200 requests since its start.'
        : `It was searched since ${isoOf(period.since)}. --since 7d searches further back.`;
    throw refusal('request_not_found', `No log line has the request id ${requestId}. ${where}`);
  }
  const isOwned = ({ seller_id, key_id }: LogLine): boolean =>
    owner === undefined || seller_id === owner.sellerId || owner.keyIds.includes(String(key_id));
  if (!lines.some(isOwned)) {
    throw refusal('request_not_found', `Request ${requestId} is not one of ${owner?.sellerId}.`);
  }
  return { json: { lines }, text: lines.map(lineBlock) };
};

const logs = async (session: Session, options: LogsOptions): Promise<CommandResult> => {
  const { seller, request, status, limit, since, query: isQuery = false } = options;
  const period = { since, until: options.until ?? Math.ceil(session.admin.clock() / 1000) };
  if (period.since >= period.until) throw new UsageError('--since must be before --until.');
  const { stage } = session.admin;
  const owner = seller === undefined ? undefined : await ownerOf(session, seller);
  if (request !== undefined) {
    if (isQuery) return shownQuery(session, linesQuery(stage, request), period);
    return showRequest(session, request, period, owner);
  }
  if (owner === undefined)
    throw new UsageError('Name a seller or a request: --seller sel_…, --request <id>.');
  const search = { ...period, ...owner, status, limit };
  if (isQuery) return shownQuery(session, requestsQuery(stage, search), period);
  const requests = await session.requests.find(search);
  const isPipe = session.terminal.output.columns === undefined;
  return {
    json: { requests },
    text: (isPipe ? pipeTable : terminalTable)(requests),
    note: requests.length < limit ? undefined : `The newest ${limit}. --limit or --until shows others.`,
  };
};

/** `logs` */
export const addLogsCommand: AddCommands = ({ add }) => {
  const examples = [
    'logs --seller sel_… --status 4 --stage prod',
    'logs --request JKJaXmPLvHcESHA= --since 7d --stage prod',
  ];
  add('logs', "find a seller's requests, newest first, or all log lines of one", logs, ...examples)
    .option('--seller <seller>', 'the requests of this seller: sel_…, or its name')
    .option('--request <id>', 'the log lines of one request: its X-Request-Id', parseRequestId)
    .addOption(
      new Option('--status <status>', 'only this status, or those that begin so: 409, 4')
        .argParser(parseStatus)
        .conflicts('request'),
    )
    .addOption(
      new Option('--since <when>', 'from: 1h or 7d ago, a day (its start, UTC) or 2027-01-31T12:00Z')
        .argParser(parsePast)
        .default(Math.floor(Date.now() / 1000) - DAY_SECONDS, '24h'),
    )
    .option('--until <when>', 'to, in the same forms (default: now)', parsePast)
    .option('--limit <count>', 'the maximum number of requests', wholeNumberUpTo(MAX_REQUESTS), 50)
    .option('--query', 'print the query for CloudWatch Logs Insights, and do not run it');
};
