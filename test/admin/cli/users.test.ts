import { createSeller } from '#admin/operations/sellers.ts';
import { putAll } from '#admin/stores/batches.ts';
import { externalIdKey, phoneLinkKey } from '#shared/table/keys.ts';
import type { User } from '#shared/users/schema.ts';
import { linkBuyer, linkMany } from '#test/admin/operations/linked-buyer.ts';
import { newPhone } from '#test/generated-people.ts';
import { startTestShell, type TestShell } from './test-shell.ts';

let shell: TestShell;
let sellerId: string;
beforeAll(async () => {
  shell = await startTestShell();
});
afterAll(() => shell.stop());
beforeEach(async () => {
  ({ seller_id: sellerId } = await createSeller(shell.admin, 'Kaveh Books'));
});

const PHONE = '09121234567';
const E164 = '+989121234567';

const link = async () => linkBuyer(shell.table, sellerId, (await shell.hashes.phone(E164)).current);

describe('users', () => {
  it('lists the users of a seller up to a limit, with masked national ids', async () => {
    const users = [await link(), await link(), await link()];
    expect(await shell.json('users', 'list', sellerId, '--limit', '1')).toEqual({
      data: [
        {
          id: users[0]?.id,
          external_id: null,
          national_id: '******0829',
          birth_date: '1370/1/15',
          phone: E164,
          display_name: 'Sara Ahmadi',
          created_at: users[0]?.created_at,
          checked_at: users[0]?.checked_at,
        },
      ],
      total: 3,
    });
    const { out, error } = await shell.cli('users', 'list', sellerId);
    expect(out).toContain('******0829');
    expect(error).toBe('3 of 3 users.\n');
  });

  it('lists and searches all users on more than one page of the table', async () => {
    const { current: hash } = await shell.hashes.phone(E164);
    const ids = await linkMany(shell.table, sellerId, hash, 101);
    expect((await shell.json('users', 'list', sellerId)).data).toHaveLength(100);
    const all = await shell.json('users', 'list', sellerId, '--limit', '1000');
    expect(all.data.map(({ id }: { id: string }) => id)).toEqual(ids);
    expect(all.total).toBe(101);
    const last = String(ids.at(-1));
    expect((await shell.json('users', 'list', sellerId, '--search', last)).data).toMatchObject([
      { id: last },
    ]);
    const { out, error } = await shell.cli('users', 'list', sellerId, '--search', 'nobody');
    expect({ lines: out.split('\n').length, error }).toEqual({ lines: 2, error: '0 of 101 users.\n' });
  });

  it('lists only the users with a phone', async () => {
    const { id } = await link();
    await linkBuyer(shell.table, sellerId, 'hash of another phone');
    const found = await shell.json('users', 'list', sellerId, '--phone', PHONE);
    expect(found).toMatchObject({ data: [{ id }], total: 1 });
    const nobody = await shell.json('users', 'list', sellerId, '--phone', PHONE, '--search', 'nobody');
    expect(nobody).toEqual({ data: [], total: 1 });
  });

  it('shows a user by its id, of all sellers', async () => {
    await link();
    const { id } = await link();
    const { data } = await shell.json('users', 'show', id);
    expect(data).toEqual([
      expect.objectContaining({ seller_id: sellerId, id, national_id: '******0829', external_id: null }),
    ]);
    const { out } = await shell.cli('users', 'show', id);
    expect(out).toContain(id);
    expect(out).toContain(sellerId);
  });

  it('shows the users with a phone of all sellers, or of one', async () => {
    const { seller_id: other } = await shell.json('sellers', 'create', 'Phone Shop');
    const phone = newPhone();
    const { current: hash } = await shell.hashes.phone(phone);
    const first = await linkBuyer(shell.table, sellerId, hash);
    const second = await linkBuyer(shell.table, other, hash);
    const idsOf = ({ data }: { data: { id: string; seller_id: string }[] }) =>
      data.map(({ id, seller_id }) => [seller_id, id]).sort();
    const all = [
      [sellerId, first.id],
      [other, second.id],
    ].sort();
    expect(idsOf(await shell.json('users', 'show', phone))).toEqual(all);
    const read = await shell.cliWithInput(phone, 'users', 'show', '-', '--json');
    expect(idsOf(JSON.parse(read.out))).toEqual(all);
    expect(idsOf(await shell.json('users', 'show', phone, '--seller', other))).toEqual([[other, second.id]]);
    const { out } = await shell.cli('users', 'show', phone);
    expect([out.includes(first.id), out.includes(second.id)]).toEqual([true, true]);
  });

  it('shows the users with an external id of all sellers, or of one', async () => {
    const { seller_id: other } = await shell.json('sellers', 'create', 'Label Shop');
    const ours = await linkBuyer(shell.table, sellerId, 'hash of a phone', { external_id: 'order:cli-1' });
    const theirs = await linkBuyer(shell.table, other, 'hash of a phone', { external_id: 'order:cli-1' });
    const { data } = await shell.json('users', 'show', 'order:cli-1');
    expect(data.map(({ id }: User) => id).sort()).toEqual([ours.id, theirs.id].sort());
    const one = await shell.json('users', 'show', 'order:cli-1', '--seller', other);
    expect(one.data).toEqual([{ seller_id: other, ...theirs }]);
    expect((await shell.cli('users', 'show', 'order:cli-1', '--seller', other)).out).toContain('order:cli-1');
  });

  it('does not show a user that has another phone or external id than its pointer says', async () => {
    const { id } = await linkBuyer(shell.table, sellerId, 'hash of a phone');
    const phone = newPhone();
    const { current: hash } = await shell.hashes.phone(phone);
    await putAll(shell.table, [
      { ...externalIdKey(sellerId, 'order:stale'), user_id: id },
      { ...phoneLinkKey(hash, sellerId, 1), user_id: id },
    ]);
    for (const wanted of ['order:stale', phone])
      expect((await shell.cli('users', 'show', wanted)).exitCode).toBe(1);
  });

  it('does not show a user of another seller, and does not repeat what was typed', async () => {
    const { id } = await link();
    const { seller_id: other } = await shell.json('sellers', 'create', 'Other Shop');
    for (const wanted of [[id, '--seller', other], ['order:of-nobody'], [newPhone()], ['']]) {
      const outcome = await shell.cli('users', 'show', ...wanted, '--json');
      expect(outcome.exitCode).toBe(1);
      expect(JSON.parse(outcome.error)).toEqual({
        error: { code: 'user_not_found', message: 'No user has this id, phone or external id.' },
      });
    }
  });

  it('counts a removed user no longer', async () => {
    const { id } = await link();
    await link();
    expect(await shell.json('users', 'remove', id, '--seller', sellerId, '--yes')).toEqual({
      id,
      removed: true,
    });
    expect(await shell.json('sellers', 'show', sellerId)).toMatchObject({ users: 1 });
  });

  it('removes all users of a seller, so that it can be deleted', async () => {
    for (let count = 0; count < 3; count += 1) await link();
    await shell.json('sellers', 'suspend', sellerId, '--yes');
    const removed = await shell.cli('users', 'remove', '--all', '--seller', sellerId, '--yes');
    expect(removed).toEqual({ exitCode: 0, out: `Removed 3 users of ${sellerId}.\n`, error: '' });
    const again = await shell.json('users', 'remove', '--all', '--seller', sellerId);
    expect(again).toEqual({ seller_id: sellerId, removed: 0, users: 0 });
    expect(await shell.json('sellers', 'delete', sellerId, '--yes')).toMatchObject({ deleted: true });
  });

  it('says before a removal of all users that an active seller can link more, and names a suspended one without it', async () => {
    await link();
    const asked: string[] = [];
    const declining = (question: string) => {
      asked.push(question);
      return 'n';
    };
    const remove = ['users', 'remove', '--all', '--seller', sellerId];
    expect(await shell.cliWithPerson(declining, ...remove)).toMatchObject({ exitCode: 1, out: '' });
    await shell.json('sellers', 'suspend', sellerId, '--yes');
    expect(await shell.cliWithPerson(declining, ...remove)).toMatchObject({ exitCode: 1, out: '' });
    const question = `Remove all 1 user of ${sellerId} (Kaveh Books) for good?`;
    expect(asked).toEqual([
      `${question} It can link more meanwhile: suspend it first. [y/N] `,
      `${question} [y/N] `,
    ]);
  });

  it.each([[['--yes']], [['usr_1', '--all', '--yes']]])(
    'refuses to remove with %j: a user or all',
    async (words) => {
      await link();
      const outcome = await shell.cli('users', 'remove', ...words, '--seller', sellerId);
      expect(outcome).toEqual({ exitCode: 2, out: '', error: 'error: Name a user, or --all without one.\n' });
      expect(await shell.json('sellers', 'show', sellerId)).toMatchObject({ users: 1 });
    },
  );
});
