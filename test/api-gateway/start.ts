import { once } from 'node:events';
import { createServer } from 'node:http';
import { apiGatewayClient, apiGatewayUsagePlans } from '#admin/usage-plans/api-gateway.ts';
import { API_ID, PLAN_IDS, STAGE_NAME } from './identifiers.ts';
import { type SimulatorOptions, simulatedApiGateway } from './simulator.ts';

/** Starts a simulated API Gateway on a port of its own, with the real SDK client and our adapter. Stop it in afterAll. */
export const startApiGateway = async (options: SimulatorOptions = {}) => {
  const simulator = simulatedApiGateway(options);
  const server = createServer((request, response) => void simulator.handle(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const url = `http://127.0.0.1:${port}`;
  const client = apiGatewayClient({
    endpoint: url,
    region: 'us-east-1',
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
  });
  return {
    simulator,
    url,
    client,
    usagePlans: apiGatewayUsagePlans({ client, apiId: API_ID, stageName: STAGE_NAME, planIds: PLAN_IDS }),
    async stop() {
      client.destroy();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
};
