import type { NewUser } from '#test/generated-people.ts';
import { registeredPerson } from './buyers.ts';
import { call, expectProblem, type Reply } from './call.ts';
import { itWith, type ScenarioOptions, type Target } from './target.ts';

interface UserView {
  readonly id: string;
  readonly phone: string;
}

interface Page {
  readonly data: readonly UserView[];
  readonly total: number;
  readonly total_pages: number;
}

const link = async (target: Target, person: NewUser, key = target.keys.professional): Promise<UserView> => {
  const reply = await call(target, '/v1/users', { key, body: person });
  expect(reply.status).toBe(201);
  return reply.json<UserView>();
};

const read = (target: Target, id: string, key = target.keys.read_only): Promise<Reply> =>
  call(target, `/v1/users/${id}`, { key });

const remove = (target: Target, id: string, key = target.keys.write_only): Promise<Reply> =>
  call(target, `/v1/users/${id}`, { method: 'DELETE', key });

const pageOf = async (target: Target, query: string): Promise<Page> => {
  const reply = await call(target, `/v1/users?${query}`, { key: target.keys.read_only });
  expect(reply.status).toBe(200);
  return reply.json<Page>();
};

/** Reading and removing a user by its id. */
export const usersByIdScenarios = (options: ScenarioOptions): void => {
  const { target } = options;
  const scenario = itWith(options, 'sandbox');

  describe('removing a user', () => {
    scenario('hides the user from its id, its phone and the list, and moves the later users up', async () => {
      const [kept, removed, newest] = [
        await link(target(), await registeredPerson(target())),
        await link(target(), await registeredPerson(target())),
        await link(target(), await registeredPerson(target())),
      ];
      const before = await pageOf(target(), 'page_size=1');
      const pages = [2, 1, 0].map((fromLast) => before.total_pages - fromLast);
      const replies = [await remove(target(), removed.id), await remove(target(), removed.id)];
      expect(replies.map(({ status, text }) => [status, text])).toEqual(Array(2).fill([204, '']));
      expectProblem(await read(target(), removed.id), 'user_not_found');
      expect((await pageOf(target(), `phone=${encodeURIComponent(removed.phone)}`)).data).toEqual([]);
      const after = await Promise.all(pages.map((page) => pageOf(target(), `page=${page}&page_size=1`)));
      expect(after.map(({ data }) => data)).toEqual([[kept], [newest], []]);
      expect(after.map(({ total, total_pages }) => [total, total_pages])).toEqual(
        pages.map(() => [before.total - 1, before.total - 1]),
      );
    });
  });

  describe('correcting a user', () => {
    const correct = (id: string, body: object, key = target().keys.write_only) =>
      call(target(), `/v1/users/${id}`, { method: 'PATCH', key, body });

    scenario('changes the name and the external id wherever the user is read', async () => {
      const user = await link(target(), await registeredPerson(target()));
      const external_id = `corrected:${user.id}`;
      const changed = { ...user, display_name: 'Sara Rezaei', external_id };
      const reply = await correct(user.id, { display_name: 'Sara Rezaei', external_id });
      const shown = ['id', 'external_id', 'display_name', 'created_at', 'checked_at'];
      expect(reply.status).toBe(200);
      const corrected = reply.json<UserView>();
      expect(changed).toMatchObject(corrected);
      expect(Object.keys(corrected)).toEqual(shown);
      expect((await read(target(), user.id)).json()).toEqual(changed);
      for (const query of [`phone=${encodeURIComponent(user.phone)}`, `external_id=${external_id}`]) {
        expect((await pageOf(target(), query)).data).toEqual([changed]);
      }
      const { total } = await pageOf(target(), 'page_size=1');
      expect((await pageOf(target(), `page=${total}&page_size=1`)).data).toEqual([changed]);
    });
  });

  describe('checking a user again', () => {
    const check = (id: string, { national_id, birth_date, phone }: NewUser) =>
      call(target(), `/v1/users/${id}/checks`, {
        key: target().keys.write_only,
        body: { national_id, birth_date, phone },
      });

    scenario('moves the user to another phone, wherever it is read, with its id', async () => {
      const person = await registeredPerson(target());
      const user = await link(target(), person);
      expect((await check(user.id, person)).json()).toEqual(user);
      const { phone } = await registeredPerson(target());
      expect((await check(user.id, { ...person, phone })).status).toBe(200);
      const moved = (await read(target(), user.id)).json<UserView>();
      expect(moved).toMatchObject({ id: user.id, phone });
      expect((await pageOf(target(), `phone=${encodeURIComponent(phone)}`)).data).toEqual([moved]);
      expect((await pageOf(target(), `phone=${encodeURIComponent(user.phone)}`)).data).toEqual([]);
    });
  });
};
