import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  apiGatewayAuthorizerCache,
  apiGatewayClient,
  apiGatewayUsagePlans,
} from '#admin/usage-plans/api-gateway.ts';
import type { GatewayKey } from '#admin/usage-plans/port.ts';
import { STAGE_NAME } from '#local/environment.ts';
import { jsonResult, respond } from '#local/gateway/proxy-event.ts';
import { API_ID, PLAN_IDS } from './identifiers.ts';
import { openApiGateway, type SimulatedApiGateway, type SimulatorOptions } from './simulator.ts';

/** `throttled`: the call is not made. `response lost`: it is made, and the connection ends without a response. */
type Fault = 'throttled' | 'response lost';

/** Starts a simulated API Gateway behind HTTP, with the adapter and the SDK client as in AWS. */
export const startApiGateway = async (options: Partial<SimulatorOptions> = {}) => {
  const open = () => openApiGateway(options);
  let simulator = open();
  let faults: Fault[] = [];
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const fault = faults.shift();
    if (fault === 'throttled') {
      const { headers, ...throttled } = jsonResult(429, { message: 'Too Many Requests' });
      respond(response, {
        ...throttled,
        headers: { ...headers, 'x-amzn-ErrorType': 'TooManyRequestsException' },
      });
      return;
    }
    const result = await simulator.respondTo(request);
    if (fault === 'response lost') response.destroy();
    else respond(response, result);
  };
  const server = createServer((request, response) => void serve(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
  const client = apiGatewayClient({ endpoint, region: 'us-east-1', credentials });
  const usagePlans = apiGatewayUsagePlans({ client, planIds: PLAN_IDS });
  const authorizerCache = apiGatewayAuthorizerCache(client, { restApiId: API_ID, stageName: STAGE_NAME });
  return {
    usagePlans,
    authorizerCache,
    /** The simulator of this test. */
    get simulator(): SimulatedApiGateway {
      return simulator;
    },
    /** All keys of the account. */
    keys: (): Promise<GatewayKey[]> => Array.fromAsync(usagePlans.listKeys('')),
    /** The next calls fail in this way, one after another. */
    fail(...next: readonly Fault[]) {
      faults = [...next];
    },
    /** Begins again, without keys. */
    async reset() {
      faults = [];
      simulator = open();
    },
    async stop() {
      client.destroy();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
};

export type RunningApiGateway = Awaited<ReturnType<typeof startApiGateway>>;

/** Starts a simulated API Gateway for the tests of a file. Each test begins without keys. */
export const useApiGateway = (options: Partial<SimulatorOptions> = {}): (() => RunningApiGateway) => {
  let running: RunningApiGateway;
  beforeAll(async () => {
    running = await startApiGateway(options);
  });
  beforeEach(() => running.reset());
  afterAll(() => running.stop());
  return () => running;
};
