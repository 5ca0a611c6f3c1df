import { type Administration, administration } from '#admin/administration.ts';
import { randomIds } from '#admin/ids.ts';
import type { UsagePlans } from '#admin/usage-plans/port.ts';
import { systemClock } from '#shared/clock.ts';
import type { Table } from '#shared/table/client.ts';
import { KEY_PREFIX, STAGE_NAME } from './environment.ts';

/** The admin operations on the service of this machine: the same code as the CLI runs. */
export const localAdministration = (table: Table, usagePlans: UsagePlans): Administration =>
  administration({
    table,
    usagePlans,
    keyPrefix: KEY_PREFIX,
    stage: STAGE_NAME,
    actor: 'local:npm start',
    clock: systemClock,
    ids: randomIds,
  });
