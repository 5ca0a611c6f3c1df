import type { Table } from '#shared/table/client.ts';
import { userLinks } from '#shared/users/link-user.ts';
import { userReads } from '#shared/users/read-users.ts';
import { userRemovals } from '#shared/users/remove-user.ts';
import { userUpdates } from '#shared/users/update-user.ts';

/** Everything that can be done with the users of a table. */
export const userStore = (table: Table) => ({
  ...userReads(table),
  ...userLinks(table),
  ...userRemovals(table),
  ...userUpdates(table),
});

export type UserStore = ReturnType<typeof userStore>;
