import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { APIGatewayProxyResult } from 'aws-lambda';
import { build, handle } from '#functions/get-docs.ts';
import { SITE_FOLDER } from '#lib/site.ts';
import { proxyEvent, type ReceivedRequest, receive, respond } from '#local/gateway/proxy-event.ts';
import { router } from '#local/gateway/router.ts';
import { endpoint, type LambdaHandler } from '#shared/http/endpoint.ts';
import { redirectLog } from '#shared/log.ts';
import { routes } from '#shared/routes.ts';

const STAGE = 'dev';

const findDocs = router([routes['get-docs']]);

/** Forwards a request to the local service. */
const forward = async (baseUrl: string, { method, path, query, headers, body }: ReceivedRequest) => {
  const kept = headers.filter(([name]) => /^(?:x-api-key|authorization|content-type)$/i.test(name));
  const response = await fetch(`${baseUrl}${path}?${new URLSearchParams(query.map(([...pair]) => pair))}`, {
    method,
    headers: Object.fromEntries(kept),
    ...(body.length > 0 && { body: new Uint8Array(body) }),
  });
  const { 'content-encoding': _, 'content-length': __, ...sent } = Object.fromEntries(response.headers);
  return { statusCode: response.status, headers: sent, body: await response.text() };
};

/** Serves the service below a stage path, as API Gateway does: `/dev/docs` here is `/docs` there. The site comes from its function, all else from the local service. */
export const behindStage = async (localUrl: string) => {
  const restoreLog = redirectLog(() => {});
  let handler: LambdaHandler | undefined;

  const answer = async (sent: ReceivedRequest): Promise<APIGatewayProxyResult> => {
    const [, stage, ...rest] = sent.path.split('/');
    if (stage !== STAGE) return { statusCode: 403, body: '' };
    const request = { ...sent, path: `/${rest.join('/')}` };
    const match = findDocs(request.method, request.path);
    if (match === undefined || handler === undefined) return forward(localUrl, request);
    const event = proxyEvent(request, match);
    const context = { getRemainingTimeInMillis: () => 10_000 } as Parameters<LambdaHandler>[1];
    return handler({ ...event, requestContext: { ...event.requestContext, path: sent.path } }, context);
  };

  const server = createServer(async (request, response) => {
    respond(response, await answer(await receive(request)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/${STAGE}`;
  Object.assign(process.env, { SITE_FOLDER, BASE_URL: baseUrl });
  handler = endpoint(routes['get-docs'], build, handle);
  return {
    baseUrl,
    async close(): Promise<void> {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
      restoreLog();
    },
  };
};
