import { handle } from '#functions/update-user.ts';
import { routes } from '#shared/routes.ts';
import type { Table } from '#shared/table/client.ts';
import { createSeller, linked, linkOf, withExternalId } from '#test/shared/users/linking.ts';
import { userStore } from '#test/shared/users/user-store.ts';
import { useTable } from '#test/table/use-table.ts';
import { functionUnderTest } from './harness.ts';
import { linkNewUser } from './users-on.ts';

const table = useTable();

beforeAll(async () => {
  await createSeller(table, 'sel_test');
});

const updateUser = (on: Table = table) =>
  functionUnderTest(routes['update-user'], handle, on, {
    users: userStore(on),
  });

const newUser = () => linkNewUser(table, 'sel_test');
const stored = (id: string) => userStore(table).getUser('sel_test', id);

describe('200', () => {
  it('returns the new name, trimmed and in NFC, and the new external id, and no datum that users:read protects', async () => {
    const user = await newUser();
    const body = { display_name: '  Sara Reza\u0301i ', external_id: 'order:1' };
    const { status, json } = await updateUser().call({ path: { id: user.id }, body });
    expect(status).toBe(200);
    const { id, created_at, checked_at } = user;
    const corrected = { id, external_id: 'order:1', display_name: 'Sara Rez\u00e1i', created_at, checked_at };
    expect(json).toEqual(corrected);
    expect(await stored(user.id)).toEqual({ ...user, ...corrected });
  });

  it('is the response to the same request again and to null for no external id', async () => {
    const user = await newUser();
    const { call } = updateUser();
    const request = { path: { id: user.id }, body: { external_id: null } };
    const { national_id, birth_date, phone, ...withoutPerson } = user;
    expect((await call(request)).json).toEqual(withoutPerson);
    expect((await call(request)).json).toEqual(withoutPerson);
  });
});

describe('409', () => {
  it('is external_id_conflict for the external id of another user, and changes nothing', async () => {
    await linked(userStore(table), withExternalId(linkOf('sel_test', 'holder'), 'order:409'));
    const user = await newUser();
    const body = { display_name: 'Another name', external_id: 'order:409' };
    const { status, json } = await updateUser().call({ path: { id: user.id }, body });
    expect([status, json.code]).toEqual([409, 'external_id_conflict']);
    expect(await stored(user.id)).toEqual(user);
  });
});

describe('422', () => {
  it.each([
    [{}, [['#/display_name', 'Give display_name, external_id or both.']]],
    [{ display_name: ' ' }, [['#/display_name', expect.stringContaining('1 to 100 characters')]]],
    [{ display_name: null }, [['#/display_name', 'Must be a string.']]],
    [
      { external_id: '09121234567' },
      [['#/external_id', expect.stringContaining('prefix numeric references')]],
    ],
    [
      { display_name: 'x'.repeat(101), external_id: 'a b', phone: '+989121234567' },
      [
        ['#/display_name', expect.any(String)],
        ['#/external_id', expect.any(String)],
        [
          '#/phone',
          'Is not a known field: this operation has display_name, external_id. POST /v1/users/{id}/checks changes it.',
        ],
      ],
    ],
  ])('names each wrong field of %j and changes nothing', async (body, errors) => {
    const user = await newUser();
    const { status, json } = await updateUser().call({ path: { id: user.id }, body });
    expect([status, json.code]).toEqual([422, 'validation_failed']);
    expect(json.errors.map(({ pointer, detail }: Record<string, string>) => [pointer, detail])).toEqual(
      errors,
    );
    expect(await stored(user.id)).toEqual(user);
  });
});
