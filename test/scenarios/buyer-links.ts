import { newPerson } from '#test/generated-people.ts';
import { registerBuyer } from './buyers.ts';
import { call, expectProblem } from './call.ts';
import { itWith, type ScenarioOptions } from './target.ts';

/** What the buyer app shows a buyer: the links of sellers, and their end. */
export const buyerLinkScenarios = (options: ScenarioOptions): void => {
  const { target } = options;
  const scenario = itWith(options, 'sandbox');

  const find = (person: ReturnType<typeof newPerson>, token: string) =>
    call(target(), '/v1/buyer/links/find', {
      key: target().keys.app,
      headers: { Authorization: `Bearer ${token}` },
      body: { national_id: person.national_id, birth_date: person.birth_date },
    });

  const link = (person: object, headers = {}) =>
    call(target(), '/v1/users', { key: target().keys.professional, headers, body: person });

  describe('the links of a buyer', () => {
    scenario(
      'are shown and ended by the buyer, and a new sign-in at the seller allows a new one',
      async () => {
        const person = newPerson();
        const { keys, sellerId } = target();
        const token = await registerBuyer(target(), person.phone);
        const linked = await link(person);
        expect(linked.status).toBe(201);

        const found = await find(person, token);
        expect(found.status).toBe(200);
        const { data } = found.json<{ data: { id: string; seller: { id: string } }[] }>();
        expect(data).toMatchObject([{ seller: { id: sellerId }, display_name: person.display_name }]);
        const [{ id } = { id: '' }] = data;

        const headers = { Authorization: `Bearer ${token}` };
        const end = () =>
          call(target(), `/v1/buyer/links/${id}`, { method: 'DELETE', key: keys.app, headers });
        expect([(await end()).status, (await end()).status]).toEqual([204, 204]);
        const gone = await call(target(), `/v1/users/${linked.json<{ id: string }>().id}`, {
          key: keys.read_only,
        });
        expectProblem(gone, 'user_not_found');
        expect((await find(person, token)).json()).toEqual({ data: [] });
        expectProblem(await link(person), 'link_refused');
        expectProblem(await link(person, headers), 'link_refused');
      },
    );
  });
};
