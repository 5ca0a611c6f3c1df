import type { Table } from '#shared/table/client.ts';
import { userLinks } from './link-user.ts';
import { userReads } from './read-users.ts';
import { userRemovals } from './remove-user.ts';

/** Everything that can be done with the users of a table. A function that needs less binds one of the three parts. */
export const userStore = (table: Table) => ({
  ...userReads(table),
  ...userLinks(table),
  ...userRemovals(table),
});

export type UserStore = ReturnType<typeof userStore>;
