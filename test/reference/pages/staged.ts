import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { APIGatewayProxyResult } from 'aws-lambda';
import { handle as getDocs } from '#functions/get-docs.ts';
import { handle as getGuide } from '#functions/get-guide.ts';
import { handle as getRoot } from '#functions/get-root.ts';
import { proxyEvent, type ReceivedRequest, receive, respond } from '#local/gateway/proxy-event.ts';
import { router } from '#local/gateway/router.ts';
import { writePages } from '#reference/pages/write-pages.ts';
import { docsFileReader } from '#shared/docs/files.ts';
import { docsRoutes } from '#shared/docs/routes.ts';
import { endpoint, type LambdaHandler } from '#shared/http/endpoint.ts';
import { redirectLog } from '#shared/log.ts';
import { DEPLOYED_SITE } from './sites.ts';

const { 'get-docs': docs, 'get-guide': guide, 'get-root': root } = docsRoutes;

const find = router([docs, guide, root]);

/** Forwards a request to the local service. */
const forward = async (baseUrl: string, { method, path, headers }: ReceivedRequest) => {
  const key = headers.find(([name]) => name.toLowerCase() === 'x-api-key')?.[1];
  const response = await fetch(`${baseUrl}${path}`, { method, headers: key ? { 'X-Api-Key': key } : {} });
  const { 'content-encoding': _, 'content-length': __, ...sent } = Object.fromEntries(response.headers);
  return { statusCode: response.status, headers: sent, body: await response.text() };
};

/**
 * Serves the service under a stage path, as API Gateway does: `/dev/docs` here is `/docs` there. The pages are those of a deployment, from
 * their functions; all else comes from the local service.
 */
export const behindStage = async (baseUrl: string, stage: string) => {
  const folder = await mkdtemp(join(tmpdir(), 'buyer-linking-staged-'));
  await writePages(folder, DEPLOYED_SITE);
  const deps = () => ({ read: docsFileReader(folder) });
  const handlers: Readonly<Record<string, LambdaHandler>> = {
    'get-docs': endpoint(docs, deps, getDocs),
    'get-guide': endpoint(guide, deps, getGuide),
    'get-root': endpoint(root, () => undefined, getRoot),
  };

  const answer = async (sent: ReceivedRequest): Promise<APIGatewayProxyResult> => {
    const [, ownStage, ...rest] = sent.path.split('/');
    if (ownStage !== stage) return { statusCode: 403, body: '' };
    const request = { ...sent, path: `/${rest.join('/')}` };
    const match = find(request.method, request.path);
    const handler = match && handlers[match.route.name];
    if (match === undefined || handler === undefined) return forward(baseUrl, request);
    const event = proxyEvent(request, match);
    const requestContext = { ...event.requestContext, path: sent.path };
    const context = { getRemainingTimeInMillis: () => 10_000 } as Parameters<LambdaHandler>[1];
    return handler({ ...event, requestContext }, context);
  };

  const restoreLog = redirectLog(() => {});
  const server = createServer(async (request, response) => {
    respond(response, await answer(await receive(request)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/${stage}`,
    async close(): Promise<void> {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
      restoreLog();
      await rm(folder, { recursive: true });
    },
  };
};
