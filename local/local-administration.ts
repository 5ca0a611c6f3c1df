import { type Administration, administration } from '#admin/administration.ts';
import { randomIds } from '#admin/ids.ts';
import { systemClock } from '#shared/clock.ts';
import type { Table } from '#shared/table/client.ts';
import { KEY_PREFIX, STAGE_NAME } from './environment.ts';
import { localUsagePlans, usagePlansTable } from './usage-plans.ts';

/** The admin operations on the service of this machine: the same code as for a stage. */
export const localAdministration = (table: Table, actor: string): Administration =>
  administration({
    table,
    usagePlans: localUsagePlans(usagePlansTable(table)),
    keyPrefix: KEY_PREFIX,
    stage: STAGE_NAME,
    actor,
    clock: systemClock,
    ids: randomIds,
  });
