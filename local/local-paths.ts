import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { paginateScan } from '@aws-sdk/lib-dynamodb';
import type { APIGatewayProxyResult } from 'aws-lambda';
import { deleteAll } from '#admin/stores/batches.ts';
import { problemResponse } from '#shared/http/responses.ts';
import type { Table } from '#shared/table/client.ts';
import type { ItemPrefix } from '#shared/table/keys.ts';
import { jsonResult, respond } from './gateway/proxy-event.ts';
import type { Serve } from './loopback-server.ts';

/** Names by which a browser or a script on this machine calls the service. */
const LOCAL_HOST = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/i;

/** Returns whether a path exists on one machine only. Such a path is not part of the contract: it shows data that AWS does not expose. */
export const isLocalPath = (request: IncomingMessage): boolean =>
  /^\/_local(?:[/?]|$)/.test(request.url ?? '');

/**
 * Returns whether a request comes from this machine and from no web page but the service's own. DNS rebinding: a page of another site
 * whose host name resolves to this machine must not read keys.
 */
const isOwn = ({ headers }: IncomingMessage): boolean => {
  const { host = '', origin } = headers;
  if (!LOCAL_HOST.test(host)) return false;
  if (origin !== undefined) return origin === `http://${host}`;
  return !/^(?:cross-site|same-site)$/.test(String(headers['sec-fetch-site']));
};

/** Serves the paths of isLocalPath: `demo`, for scripts, and `reset`, which resolves with the number of forgotten items. */
export const localPaths = (demo: object, reset: () => Promise<number>): Serve => {
  const responses: Readonly<Record<string, () => APIGatewayProxyResult | Promise<APIGatewayProxyResult>>> = {
    'GET /_local/demo': () => jsonResult(200, demo),
    'POST /_local/reset': async () => jsonResult(200, { forgotten: await reset() }),
  };

  return async (request, response) => {
    const requestId = randomUUID();
    response.setHeader('X-Request-Id', requestId);
    const [path] = (request.url ?? '').split('?');
    const respondTo = isOwn(request) ? responses[`${request.method} ${path}`] : undefined;
    respond(response, (await respondTo?.()) ?? problemResponse('not_found', requestId));
  };
};

/** What tests leave behind: the codes and locks of phones, and the counts of all limits. Users, buyers and keys stay. */
const FORGOTTEN = ['CODE#', 'LIMIT#'] as const satisfies readonly ItemPrefix[];

/** Deletes every code and count of the table. Returns how many items they were. */
export const forgetUse = async (table: Table): Promise<number> => {
  let deleted = 0;
  const scan = { TableName: table.name, ProjectionExpression: 'pk, sk', ConsistentRead: true };
  for await (const { Items = [] } of paginateScan({ client: table.client }, scan)) {
    const forgotten = Items.filter(({ pk }) => FORGOTTEN.some((prefix) => String(pk).startsWith(prefix)));
    await deleteAll(table, forgotten);
    deleted += forgotten.length;
  }
  return deleted;
};
