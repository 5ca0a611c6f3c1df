import { apiGatewayClient, apiGatewayUsagePlans } from '#admin/usage-plans/api-gateway.ts';
import type { UsagePlans } from '#admin/usage-plans/port.ts';
import { STAGE_NAME } from '../environment.ts';
import { API_ID, PLAN_IDS } from './identifiers.ts';

/** Where the simulated API Gateway listens, and the access key id that it accepts. */
export interface ApiGatewayAccess {
  readonly endpoint: string;
  readonly accessKeyId: string;
}

/** The simulator does not throttle; only a connection that it has just closed needs another attempt. */
const MAX_ATTEMPTS = 3;

/** Opens the usage plans of the simulated API Gateway, by the same adapter as in AWS. `close` ends the connections. */
export const localUsagePlans = ({ endpoint, accessKeyId }: ApiGatewayAccess) => {
  const client = apiGatewayClient({
    endpoint,
    maxAttempts: MAX_ATTEMPTS,
    region: 'us-east-1',
    // The simulator does not check the signature, so any secret will do.
    credentials: { accessKeyId, secretAccessKey: 'local' },
  });
  const usagePlans: UsagePlans = apiGatewayUsagePlans({
    client,
    apiId: API_ID,
    stageName: STAGE_NAME,
    planIds: PLAN_IDS,
  });
  return { usagePlans, close: () => client.destroy() };
};
