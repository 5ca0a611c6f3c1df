import { ResourceNotFoundException } from '@aws-sdk/client-dynamodb';
import { AdminError } from '#admin/admin-error.ts';
import { EVENTS_AHEAD, renumberEvents } from '#admin/operations/renumber-events.ts';
import { sellerStore } from '#admin/stores/seller-store.ts';
import { type AddCommands, type CommandResult, plural, type Session } from '../command.ts';

const renumber = async ({ admin, requireYes }: Session, name: string): Promise<CommandResult> => {
  const table = { client: admin.table.client, name };
  const { length } = await sellerStore(table)
    .list()
    .catch((cause: unknown) => {
      if (!(cause instanceof ResourceNotFoundException)) throw cause;
      throw new AdminError('bad_input', `There is no table ${name} in this account and Region.`, { cause });
    });
  const ahead = EVENTS_AHEAD.toLocaleString('en');
  const inService = name === admin.table.name ? ' This table is in service.' : '';
  await requireYes(
    `Raise the event numbers of ${plural(length, 'seller')} of ${name} by ${ahead}?${inService} Every reader of events reads all users again.`,
  );
  const sellers = await renumberEvents(admin, table);
  return {
    json: { table: name, sellers, raised_by: EVENTS_AHEAD },
    text: `Raised the event numbers of ${plural(sellers, 'seller')} by ${ahead}.\n`,
  };
};

/** `restore renumber` */
export const addRestoreCommands: AddCommands = ({ group }) => {
  const add = group('restore', 'use a table that DynamoDB restored');
  const description = 'raise the event numbers of a table, before it takes the place of the live one';
  add('renumber <table>', description, renumber, 'restore renumber restored --stage prod');
};
