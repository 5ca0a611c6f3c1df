import { openAdminTable } from '#admin/cli/connection.ts';
import { readAdminTarget } from '#local/admin-target.ts';
import type { Table } from '#shared/table/client.ts';
import type { Deployment } from './deployment.ts';

/** Opens the table of a deployment. */
export const openTableOf = async ({ folder }: Deployment): Promise<Table> => {
  const target = await readAdminTarget(folder);
  if (target === undefined) throw new Error('the service was never started');
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  return openAdminTable(target.table_name, {
    endpoint: target.dynamodb_endpoint,
    region: 'us-east-1',
    credentials,
  });
};
