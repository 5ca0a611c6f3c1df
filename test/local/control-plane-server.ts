import { once } from 'node:events';
import { createServer } from 'node:http';
import { apiGatewayClient, apiGatewayUsagePlans } from '#admin/usage-plans/api-gateway.ts';
import { LOCAL_API_ID, LOCAL_PLAN_IDS, LOCAL_STAGE_NAME } from '#local/control-plane/identifiers.ts';
import { CONTROL_PLANE_PREFIX, type ControlPlaneOptions, openControlPlane } from '#local/control-plane.ts';

/** The local control plane behind a server of its own, and the real SDK pointed at it. Stop it in afterAll. */
export const startControlPlane = async (options: ControlPlaneOptions = {}) => {
  const plane = await openControlPlane(options);
  const server = createServer((request, response) => {
    plane.handle(request, response).then((isOurs) => {
      if (!isOurs) response.writeHead(404).end();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const url = `http://127.0.0.1:${port}${CONTROL_PLANE_PREFIX}`;
  const client = apiGatewayClient({
    endpoint: url,
    region: 'us-east-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });
  return {
    plane,
    url,
    client,
    usagePlans: apiGatewayUsagePlans({
      client,
      apiId: LOCAL_API_ID,
      stageName: LOCAL_STAGE_NAME,
      planIds: LOCAL_PLAN_IDS,
    }),
    async stop() {
      client.destroy();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
      await plane.close();
    },
  };
};
