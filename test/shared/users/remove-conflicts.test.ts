import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { KeyedHash } from '#shared/secrets/keyed-hashes.ts';
import { sellerKey } from '#shared/table/keys.ts';
import type { RemovalResult } from '#shared/users/remove-user.ts';
import { useTable } from '#test/table/use-table.ts';
import {
  canceledFor,
  createSeller,
  findPerson,
  inAnHour,
  linked,
  linkOf,
  noResponse,
  resend,
  storeWhose,
} from './linking.ts';
import { type UserStore, userStore } from './user-store.ts';

const table = useTable();
let store: UserStore;

beforeAll(async () => {
  store = userStore(table);
  await createSeller(table, 'sel_remove');
});

const REMOVED_AT = '2026-11-21T09:00:00.000Z';

const remove = (id: string, by: UserStore = store, removedAt = REMOVED_AT): Promise<RemovalResult> =>
  by.removeUser('sel_remove', id, { removedAt, reason: 'seller' as const, deadlineMs: inAnHour() });

const newUser = (person: string) => linked(store, linkOf('sel_remove', person));

const removedCount = async (): Promise<number> => {
  const { Item } = await table.client.send(
    new GetCommand({ TableName: table.name, Key: sellerKey('sel_remove'), ConsistentRead: true }),
  );
  return Number(Item?.removed_count ?? 0);
};

describe('removeUser beside other writes', () => {
  it('counts a user once when 20 requests remove it at once', async () => {
    const user = await newUser('crowd');
    const before = await removedCount();
    const results = await Promise.all(
      Array.from({ length: 20 }, (_, index) => remove(user.id, store, `2026-11-21T09:00:${10 + index}.000Z`)),
    );
    expect(results.sort()).toEqual([...Array(19).fill('already_removed'), 'removed']);
    expect(await removedCount()).toBe(before + 1);
  });

  it('returns already_removed if another request removes the user after it was read', async () => {
    const user = await newUser('overtaken');
    const before = await removedCount();
    const overtaken = storeWhose(table, async (send) => {
      await remove(user.id, store, '2026-11-21T08:59:59.000Z');
      return send();
    });
    expect(await remove(user.id, overtaken)).toBe('already_removed');
    expect(await removedCount()).toBe(before + 1);
  });

  it('does not remove a person who is linked again before a second removal of the old id', async () => {
    const user = await newUser('relinked');
    const late = storeWhose(table, async (send) => {
      await remove(user.id, store, '2026-11-21T08:59:59.000Z');
      await newUser('relinked');
      return send();
    });
    expect(await remove(user.id, late)).toBe('already_removed');
    const person = await findPerson(store, 'sel_remove', 'hash-of-relinked');
    expect(await store.getUser('sel_remove', person?.userId ?? '')).toMatchObject({
      display_name: 'relinked',
    });
  });

  it('either links a person again or reports the old link, when a removal runs at the same time', async () => {
    for (let round = 0; round < 10; round += 1) {
      const person = `race-${round}`;
      const old = await newUser(person);
      const [removal, link] = await Promise.all([
        remove(old.id),
        store.link(linkOf('sel_remove', person), inAnHour()),
      ]);
      expect(removal).toBe('removed');
      const current = await findPerson(store, 'sel_remove', `hash-of-${person}`);
      expect(current?.userId).toBe(link.written ? link.value.id : undefined);
      const { total } = await store.findByPhone('sel_remove', new KeyedHash(`phone-of-${person}`), {
        page: 1,
        pageSize: 9,
      });
      expect(total).toBe(link.written ? 1 : 0);
    }
  });

  it('tries again when the transaction met another one', async () => {
    const user = await newUser('conflict');
    const busy = storeWhose(table, () =>
      Promise.reject(canceledFor('None', 'None', 'None', 'TransactionConflict')),
    );
    expect(await remove(user.id, busy)).toBe('removed');
  });

  it('throws service_unavailable after the deadline and changes nothing', async () => {
    const user = await newUser('late');
    const conflict = canceledFor('TransactionConflict', 'None', 'None', 'None');
    const busy = storeWhose(table, () => Promise.reject(conflict), Number.POSITIVE_INFINITY);
    const removal = busy.removeUser('sel_remove', user.id, {
      removedAt: REMOVED_AT,
      reason: 'seller' as const,
      deadlineMs: performance.now() - 1,
    });
    await expect(removal).rejects.toMatchObject({ code: 'service_unavailable', retryAfterSeconds: 5 });
    expect(await store.getUser('sel_remove', user.id)).toEqual(user);
  });
});

describe('removeUser when a response is lost', () => {
  it('returns removed if the response was lost after the write happened', async () => {
    const user = await newUser('lost');
    const before = await removedCount();
    const lossy = storeWhose(table, async (send) => {
      await send();
      throw noResponse;
    });
    expect(await remove(user.id, lossy)).toBe('removed');
    expect(await removedCount()).toBe(before + 1);
  });

  it('returns removed if the same write is sent twice, as the SDK resends it', async () => {
    const user = await newUser('resent');
    const before = await removedCount();
    const resending = storeWhose(table, resend);
    expect(await remove(user.id, resending)).toBe('removed');
    expect(await removedCount()).toBe(before + 1);
  });

  it('removes the user if the write did not happen', async () => {
    const user = await newUser('retried');
    const lossy = storeWhose(table, () => Promise.reject(noResponse));
    expect(await remove(user.id, lossy)).toBe('removed');
    expect(await store.getUser('sel_remove', user.id)).toBeUndefined();
  });

  it('throws the error if no response comes to the write that is sent again, and the next request removes the user', async () => {
    const user = await newUser('unreachable');
    const lossy = storeWhose(table, () => Promise.reject(noResponse), 2);
    await expect(remove(user.id, lossy)).rejects.toBe(noResponse);
    expect(await remove(user.id)).toBe('removed');
  });

  it('returns already_removed if another request removed the user before the write is sent again', async () => {
    const user = await newUser('contested');
    const lossy = storeWhose(table, async () => {
      await remove(user.id);
      throw noResponse;
    });
    expect(await remove(user.id, lossy)).toBe('already_removed');
  });
});
