import { openAdminTable } from '#admin/cli/connection.ts';
import { TABLE_NAME } from '#local/environment.ts';
import type { Table } from '#shared/table/client.ts';
import type { Deployment } from './deployment.ts';

/** Opens the table of a deployment. */
export const openTableOf = async ({ proxy }: Deployment): Promise<Table> =>
  openAdminTable(TABLE_NAME, {
    endpoint: proxy.endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });
