import { keysOfAllSellers, searchSellers } from '#admin/operations/lookup.ts';
import { KEY_QUOTA } from '#admin/usage-plans/port.ts';
import type { AddCommands, CommandResult, Session } from '../command.ts';

const MISSING_CANARY_KEY =
  'The canary has no key: it reads the public keys only, so nobody learns that sellers cannot call. See docs/operators/deploy.md, "Canary key".';

const MOVED_ALIASES =
  'A function serves another version than that of the last deploy. See docs/operators/operations.md, "Take one function back".';

const show = async ({
  admin,
  release,
  alarms,
  movedAliases,
  hasCanaryKey,
  aws,
  baseUrl,
}: Session): Promise<CommandResult> => {
  const { stage, table, usagePlans, actor } = admin;
  const [sellers, keys, accountKeys, raised, moved, canaryKey] = await Promise.all([
    searchSellers(admin),
    keysOfAllSellers(admin),
    usagePlans?.countKeys(KEY_QUOTA),
    alarms(),
    movedAliases(),
    hasCanaryKey(),
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
    canary_key: canaryKey === undefined ? null : canaryKey ? 'stored' : 'missing',
  };
  const warnings = [
    ...(canaryKey === false ? [MISSING_CANARY_KEY] : []),
    ...(moved !== undefined && moved.length > 0 ? [MOVED_ALIASES] : []),
  ];
  return {
    json: item,
    text: { rows: [item] },
    note: raised?.length === 0 ? 'No alarm is raised.' : undefined,
    warning: warnings.length > 0 ? warnings.join('\n') : undefined,
  };
};

/** `info` */
export const addInfoCommand: AddCommands = ({ add }) => {
  add('info', 'show which deployment a command talks to, its version, its numbers and its alarms', show);
};
