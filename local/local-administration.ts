import { type Administration, administration } from '#admin/administration.ts';
import { apiGatewayClient, apiGatewayUsagePlans } from '#admin/usage-plans/api-gateway.ts';
import { systemClock } from '#shared/clock.ts';
import { randomIds } from '#shared/ids.ts';
import type { Table } from '#shared/table/client.ts';
import { LOCAL_API_ID, LOCAL_PLAN_IDS, LOCAL_STAGE_NAME } from './control-plane/identifiers.ts';
import { KEY_PREFIX } from './environment.ts';

/** The operations of an admin on the service that is starting: the same as the CLI's, through the same calls over HTTP. */
export const localAdministration = (
  table: Table,
  controlPlaneUrl: string,
): { readonly admin: Administration; close(): void } => {
  const client = apiGatewayClient({ endpoint: controlPlaneUrl });
  const admin = administration({
    table,
    usagePlans: apiGatewayUsagePlans({
      client,
      apiId: LOCAL_API_ID,
      stageName: LOCAL_STAGE_NAME,
      planIds: LOCAL_PLAN_IDS,
    }),
    keyPrefix: KEY_PREFIX,
    stage: LOCAL_STAGE_NAME,
    actor: 'local:npm start',
    clock: systemClock,
    ids: randomIds,
  });
  return { admin, close: () => client.destroy() };
};
