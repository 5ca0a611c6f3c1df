import type { Table } from '#shared/table/client.ts';
import { userStore } from '#shared/users/store.ts';
import type { User } from '#shared/users/user-item.ts';

let people = 0;

/** Links a new person with a phone to a seller, through the store of the service. `phoneHash`: the hash it is stored under. */
export const linkBuyer = async (table: Table, sellerId: string, phoneHash: string): Promise<User> => {
  people += 1;
  const result = await userStore(table).link(
    {
      sellerId,
      personHashes: [`person${people}`],
      phoneHash,
      birthDay: '1991-04-04',
      user: {
        nationalIdLastFour: '0829',
        birthDate: '1370/1/15',
        phone: '+989121234567',
        displayName: 'Sara Ahmadi',
        createdAt: '2026-11-21T10:00:00.000Z',
      },
    },
    performance.now() + 10_000,
  );
  if (!result.written) throw new Error('the person is linked already');
  return result.value;
};
