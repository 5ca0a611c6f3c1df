import type { Table } from '#shared/table/client.ts';
import { userLinker } from '#shared/users/link-user.ts';
import { personReader } from '#shared/users/read-person.ts';
import { userReads } from '#shared/users/read-users.ts';
import { userRemover } from '#shared/users/remove-user.ts';
import { userConfirmer, userUpdater } from '#shared/users/update-user.ts';

/** Everything that can be done with the users of a table. */
export const userStore = (table: Table) => ({
  ...userReads(table),
  readPerson: personReader(table),
  link: userLinker(table),
  removeUser: userRemover(table),
  updateUser: userUpdater(table),
  confirmUser: userConfirmer(table),
});

export type UserStore = ReturnType<typeof userStore>;
