import { gatewayKeyNamePrefix } from '#admin/administration.ts';
import { searchSellers } from '#admin/operations/lookup.ts';
import { KEY_QUOTA } from '#admin/usage-plans/port.ts';
import type { AddCommands, CommandResult, Session } from '../command.ts';

const show = async ({ admin, release, alarms, aws, baseUrl }: Session): Promise<CommandResult> => {
  const { stage, table, usagePlans, actor } = admin;
  const [sellers, keys, accountKeys, raised] = await Promise.all([
    searchSellers(admin),
    Array.fromAsync(usagePlans.listKeys(gatewayKeyNamePrefix(stage))),
    usagePlans.countKeys(KEY_QUOTA),
    alarms(),
  ]);
  const item = {
    stage,
    base_url: baseUrl,
    account: aws?.account ?? null,
    region: aws?.region ?? null,
    actor,
    ...release(),
    table: table.name,
    sellers: sellers.length,
    suspended_sellers: sellers.filter(({ status }) => status === 'suspended').length,
    keys: keys.length,
    account_keys: accountKeys,
    account_key_quota: KEY_QUOTA,
    alarms: raised ?? null,
  };
  return {
    json: item,
    text: { rows: [item] },
    note: raised?.length === 0 ? 'No alarm is raised.' : undefined,
  };
};

/** `info` */
export const addInfoCommand: AddCommands = ({ add }) => {
  add('info', 'show which deployment a command talks to, its version, its numbers and its alarms', show);
};
