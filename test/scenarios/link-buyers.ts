import { randomInt } from 'node:crypto';
import { type NewUser, newPerson } from '#test/generated-people.ts';
import { registerBuyer, registeredPerson, toPersianDigits } from './buyers.ts';
import { call, expectProblem } from './call.ts';
import { itWith, type ProblemBody, type ScenarioOptions, type Target } from './target.ts';

interface UserView {
  readonly id: string;
  readonly national_id: string;
  readonly phone: string;
}

const link = (target: Target, person: NewUser, key = target.keys.professional) =>
  call(target, '/v1/users', { key, body: person });

const usersOf = async (target: Target, key: string): Promise<UserView[]> => {
  const users: UserView[] = [];
  for (let page = 1; ; page += 1) {
    const reply = await call(target, `/v1/users?page=${page}&page_size=100`, { key });
    expect(reply.status).toBe(200);
    const { data, total_pages } = reply.json<{ data: UserView[]; total_pages: number }>();
    users.push(...data);
    if (page >= total_pages) return users;
  }
};

/** Linking a buyer to a seller. */
export const linkBuyersScenarios = (options: ScenarioOptions): void => {
  const { target } = options;
  const scenario = itWith(options, 'sandbox');

  describe('linking a buyer', () => {
    scenario(
      'returns 200 and the same user for the same request, in ASCII and in Persian digits',
      async () => {
        const person = await registeredPerson(target());
        const first = await link(target(), person);
        const again = await link(target(), person);
        const [year, month, day] = person.birth_date.split('/') as [string, string, string];
        const inPersian = await link(target(), {
          ...person,
          national_id: toPersianDigits(person.national_id),
          phone: toPersianDigits(`0${person.phone.slice(3)}`),
          birth_date: toPersianDigits(`${year}/${month.padStart(2, '0')}/${day.padStart(2, '0')}`),
        });
        expect([first.status, again.status, inPersian.status]).toEqual([201, 200, 200]);
        expect(again.json()).toEqual(first.json());
        expect(inPersian.json()).toEqual(first.json());
      },
    );

    scenario(
      'links a buyer with the key that signed the buyer in: every key registers in the sandbox',
      async () => {
        const person = newPerson();
        await registerBuyer(target(), person.phone, target().keys.professional);
        expect((await link(target(), person)).status).toBe(201);
      },
    );

    scenario('returns buyer_not_registered for a phone that the sandbox never registers', async () => {
      // Any phone of the range, so that the scenario can run again within the cool-down.
      const phone = `+98999980${7000 + randomInt(1000)}`;
      await registerBuyer(target(), phone);
      expectProblem(await link(target(), { ...newPerson(), phone }), 'buyer_not_registered');
    });
  });

  describe('linking at the same moment', () => {
    scenario(
      'stores one user for 20 identical requests: one 201, the others 200 with the same user, or too_many_attempts for a minute',
      async () => {
        const person = await registeredPerson(target());
        const replies = await Promise.all(Array.from({ length: 20 }, () => link(target(), person)));
        const linked = replies.filter(({ status }) => status < 300);
        expect(linked.filter(({ status }) => status === 201)).toHaveLength(1);
        expect(new Set(linked.map(({ text }) => text)).size).toBe(1);
        const refused = replies.filter(({ status }) => status >= 300);
        expect(refused.map((reply) => reply.json<ProblemBody>().code)).toEqual(
          refused.map(() => 'too_many_attempts'),
        );
        expect(refused.filter(({ headers }) => Number(headers.get('retry-after')) > 60)).toEqual([]);
        expect((await link(target(), person)).status).toBe(200);
        const users = await usersOf(target(), target().keys.read_only);
        expect(users.filter(({ phone }) => phone === person.phone)).toHaveLength(1);
      },
    );
  });
};
