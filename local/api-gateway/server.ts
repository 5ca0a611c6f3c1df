import { randomBase62 } from '#shared/base62.ts';
import { respond } from '../gateway/proxy-event.ts';
import { listenOnLoopback } from '../loopback-server.ts';
import type { ApiGatewayAccess } from './client.ts';
import { openApiGateway, type SimulatedApiGateway, type SimulatorOptions } from './simulator.ts';

/** Starts the simulated API Gateway on a free port. Its access key id is random for each run. */
export const startApiGateway = async (
  options: Omit<SimulatorOptions, 'accessKeyId'>,
): Promise<SimulatedApiGateway & { readonly access: ApiGatewayAccess }> => {
  const accessKeyId = randomBase62(40);
  const simulator = await openApiGateway({ ...options, accessKeyId });
  const server = await listenOnLoopback(0, async (request, response) =>
    respond(response, await simulator.respondTo(request)),
  );
  return {
    ...simulator,
    access: { endpoint: `http://127.0.0.1:${server.port}`, accessKeyId },
    async close() {
      await server.close();
      await simulator.close();
    },
  };
};
