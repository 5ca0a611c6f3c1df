import { registeredPerson } from './buyers.ts';
import { call, expectProblem } from './call.ts';
import { itWith, type ScenarioOptions } from './target.ts';

interface EventPage {
  readonly data: readonly {
    readonly sequence: number;
    readonly type: string;
    readonly data: { readonly user_id: string; readonly reason?: string };
  }[];
  readonly last_sequence: number;
  readonly has_more: boolean;
}

/** What a seller reads of the changes of its users. */
export const eventScenarios = (options: ScenarioOptions): void => {
  const { target } = options;

  const read = async (query: string): Promise<EventPage> => {
    const reply = await call(target(), `/v1/events?${query}`, { key: target().keys.events });
    expect(reply.status).toBe(200);
    return reply.json<EventPage>();
  };

  describe('the events', () => {
    itWith(options, 'sandbox')(
      'tell a link, a correction and a removal in their order, and hold no personal datum',
      async () => {
        const key = target().keys.events;
        const { last_sequence: last } = await read('limit=1');
        const person = await registeredPerson(target());
        const linked = await call(target(), '/v1/users', { key, body: person });
        expect(linked.status).toBe(201);
        const { id } = linked.json<{ id: string }>();
        const path = `/v1/users/${id}`;
        const update = { key, method: 'PATCH', body: { display_name: 'Sara Rezaei' } };
        expect((await call(target(), path, update)).status).toBe(200);
        expect((await call(target(), path, { key, method: 'DELETE' })).status).toBe(204);

        const page = await read(`after=${last}`);
        expect(page.data.map(({ sequence, type, data }) => [sequence, type, data])).toEqual([
          [last + 1, 'user.linked', { user_id: id }],
          [last + 2, 'user.updated', { user_id: id }],
          [last + 3, 'user.removed', { user_id: id, reason: 'seller' }],
        ]);
        expect([page.last_sequence, page.has_more]).toEqual([last + 3, false]);
        for (const value of [
          person.phone.slice(-9),
          person.national_id,
          person.display_name,
          'Sara Rezaei',
        ]) {
          expect(JSON.stringify(page)).not.toContain(value);
        }

        const first = await read(`after=${last}&limit=1`);
        expect([first.data, first.has_more]).toEqual([page.data.slice(0, 1), true]);
        expect(await read(`after=${last + 3}`)).toEqual({ ...page, data: [] });
        const beyond = await call(target(), `/v1/events?after=${last + 4}`, { key });
        expectProblem(beyond, 'events_expired');
      },
    );
  });
};
