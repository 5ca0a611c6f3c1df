import { ResourceNotFoundException } from '@aws-sdk/client-dynamodb';
import { type Replayed, replay } from '#admin/operations/replay.ts';
import { acceptRestored, revokeChanged } from '#admin/operations/revoke-changed.ts';
import { refusal } from '#admin/refusal.ts';
import type { AddCommands, CommandResult, Session } from '../command.ts';
import { parseExpiry } from '../option-parsers.ts';
import { plural } from '../views.ts';

const tableOf = ({ copied, deleted }: Replayed) => ({
  head: ['items', 'copied', 'deleted'],
  rows: [...new Set([...Object.keys(copied), ...Object.keys(deleted)])]
    .sort()
    .map((name) => [name, copied[name] ?? 0, deleted[name] ?? 0]),
  items: 'changes of items',
});

const replayFrom = async (
  { admin, confirm }: Session,
  { from }: { from: string },
): Promise<CommandResult> => {
  const { table } = admin;
  await confirm(
    `Replay ${from} to ${table.name}? Its sellers, keys and audit records replace those of ${table.name}. Stop all traffic first.`,
  );
  try {
    const replayed = await replay(admin, { client: table.client, name: from });
    const { removedUsers, copied, deleted } = replayed;
    return {
      json: { from, to: table.name, removed_users: removedUsers, copied, deleted },
      text: tableOf(replayed),
      note: `Replayed ${from} to ${table.name}; removed ${plural(removedUsers, 'user')} again. Run reconcile next.`,
    };
  } catch (error) {
    if (!(error instanceof ResourceNotFoundException)) throw error;
    throw refusal('bad_input', `There is no table ${from} in this account and Region.`, { cause: error });
  }
};

const revokeSince = async (
  { admin, confirm }: Session,
  { since }: { since: number },
): Promise<CommandResult> => {
  const at = new Date(since * 1000).toISOString();
  await confirm(`Revoke every key that API Gateway says was created, changed or deleted after ${at}?`);
  const { revoked, deleted } = await revokeChanged(admin, since * 1000);
  return {
    json: { since: at, revoked: revoked.map(({ key_id, seller_id }) => ({ key_id, seller_id })), deleted },
    text: {
      head: ['revoked key', 'name', 'seller'],
      rows: revoked.map(({ key_id, name, seller_id }) => [key_id, name, seller_id]),
      items: 'revoked keys',
    },
    note: `Deleted ${plural(deleted, 'key')} that only API Gateway had. Issue new keys to these sellers. Run reconcile next.`,
  };
};

const accept = async ({ admin, confirm }: Session): Promise<CommandResult> => {
  await confirm(
    `Accept ${admin.table.name} as it was restored? Keys that were revoked and users who were removed since are back.`,
  );
  await acceptRestored(admin);
  return {
    json: { accepted: admin.table.name },
    text: `Accepted ${admin.table.name}. Run reconcile next.\n`,
  };
};

/** `restore replay|revoke|accept` */
export const addRestoreCommands: AddCommands = ({ group }) => {
  const add = group('restore', 'complete a restore of the table');
  const description = 'bring keys, removals and new links of the old table to the restored one';
  add('replay', description, replayFrom, 'restore replay --from old-table --stage prod').requiredOption(
    '--from <table>',
    'the table that was restored, as it is now',
  );
  add(
    'revoke',
    'without the old table: revoke every key that changed after the restore point',
    revokeSince,
    'restore revoke --since 2027-01-31T12:00Z --stage prod',
  ).requiredOption('--since <time>', 'the restore point, like 2027-01-31T12:00Z (UTC)', parseExpiry);
  const acceptHelp = 'without the old table and API Gateway: take the table as it was restored';
  add('accept', acceptHelp, accept, 'restore accept --stage prod');
};
