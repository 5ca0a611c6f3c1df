import { gatewayKeyNamePrefix } from '#admin/administration.ts';
import { searchSellers } from '#admin/operations/lookup.ts';
import { KEY_QUOTA } from '#admin/usage-plans/port.ts';
import type { AddCommands, CommandResult, Session } from '../command.ts';

const countOf = async (items: AsyncIterable<unknown>): Promise<number> => {
  let count = 0;
  for await (const _ of items) count += 1;
  return count;
};

const show = async ({ admin, release, alarms }: Session): Promise<CommandResult> => {
  const { stage, table, usagePlans } = admin;
  const [sellers, keys, accountKeys, raised] = await Promise.all([
    searchSellers(admin),
    countOf(usagePlans.listKeys(gatewayKeyNamePrefix(stage))),
    usagePlans.countKeys(KEY_QUOTA),
    alarms(),
  ]);
  const suspended = sellers.filter(({ status }) => status === 'suspended').length;
  const item = {
    stage,
    ...release(),
    table: table.name,
    sellers: sellers.length,
    suspended_sellers: suspended,
    keys,
    account_keys: accountKeys,
    account_key_quota: KEY_QUOTA,
    alarms: raised ?? null,
  };
  const note = raised?.length === 0 ? 'No alarm is raised.' : undefined;
  return { json: item, text: { item }, note };
};

const config = async ({ admin, aws, baseUrl }: Session): Promise<CommandResult> => {
  const { stage, table, actor } = admin;
  const item = {
    stage,
    base_url: baseUrl,
    account: aws?.account ?? null,
    region: aws?.region ?? null,
    table: table.name,
    actor,
  };
  return { json: item, text: { item } };
};

/** `info`, `config` */
export const addInfoCommands: AddCommands = ({ add }) => {
  const description = 'show the version of a deployment, its numbers and its alarms';
  add('info', description, show, 'info', 'info --stage prod');
  const configHelp = 'show which deployment, account and Region a command with these options talks to';
  add('config', configHelp, config, 'config', 'config --stage prod --profile work');
};
