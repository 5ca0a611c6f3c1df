import { keysOfAllSellers } from '#admin/operations/lookup.ts';
import { KEY_QUOTA } from '#admin/usage-plans/port.ts';
import type { AddCommands, CommandResult, Session } from '../command.ts';

const MOVED_ALIASES =
  'A function serves another version than that of the last deploy. See docs/operators/operations.md, "Take one function back".';

const show = async ({
  admin,
  release,
  alarms,
  movedAliases,
  aws,
  baseUrl,
}: Session): Promise<CommandResult> => {
  const { stage, table, usagePlans, actor } = admin;
  const [sellers, keys, accountKeys, raised, moved] = await Promise.all([
    admin.sellers.list(),
    keysOfAllSellers(admin),
    usagePlans?.countKeys(KEY_QUOTA),
    alarms(),
    movedAliases(),
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
    keys: keys.filter(({ status }) => status !== 'revoked').length,
    account_keys: accountKeys ?? null,
    account_key_quota: accountKeys === undefined ? null : KEY_QUOTA,
    alarms: raised ?? null,
    moved_aliases: moved ?? null,
  };
  return {
    json: item,
    text: { rows: [item] },
    note: raised?.length === 0 ? 'No alarm is raised.' : undefined,
    warning: moved !== undefined && moved.length > 0 ? MOVED_ALIASES : undefined,
  };
};

/** `info` */
export const addInfoCommand: AddCommands = ({ add }) => {
  add('info', 'show which deployment a command talks to, its version, its numbers and its alarms', show);
};
