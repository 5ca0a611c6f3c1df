import { type NewUser, newPhone } from '#test/generated-people.ts';
import { registeredPerson, toPersianDigits } from './buyers.ts';
import { call, expectProblem } from './call.ts';
import { itWith, type ScenarioOptions, type Target } from './target.ts';

interface Page {
  readonly data: readonly { readonly id: string; readonly phone: string }[];
  readonly page: number;
  readonly page_size: number;
  readonly total: number;
  readonly total_pages: number;
}

const list = async (target: Target, query: string, key = target.otherSeller.key) => {
  const reply = await call(target, `/v1/users${query}`, { key });
  expect(reply.status).toBe(200);
  return { ...reply.json<Page>(), link: reply.headers.get('link') };
};

/** Links a new buyer with the other seller's key; returns what was sent and the id of the user. */
const linkNewBuyer = async (target: Target): Promise<NewUser & { readonly id: string }> => {
  const person = await registeredPerson(target);
  const reply = await call(target, '/v1/users', { key: target.otherSeller.key, body: person });
  expect(reply.status).toBe(201);
  return { ...person, id: reply.json<{ id: string }>().id };
};

/** At least this many users, so that there are several pages. */
const MIN_USERS = 5;

/** Listing users by page and by phone. It links a few for the other seller. */
export const listUsersScenarios = (options: ScenarioOptions): void => {
  const { target } = options;
  const scenario = itWith(options, 'sandbox');

  describe('listing users', () => {
    scenario('returns pages oldest first, each user on one page, with links to follow', async () => {
      for (let count = 0; count < MIN_USERS; count += 1) await linkNewBuyer(target());
      const { total_pages: last, data: newestLast } = await list(target(), '?page_size=100');
      expect(last).toBe(1);
      const { total_pages } = await list(target(), '?page_size=2');
      const pages = await Promise.all(
        Array.from({ length: total_pages }, (_, index) => list(target(), `?page=${index + 1}&page_size=2`)),
      );
      expect(pages.flatMap(({ data }) => data)).toEqual(newestLast);
      const link = (to: number, rel: string) => `<?page=${to}&page_size=2>; rel="${rel}"`;
      const links = [link(1, 'first'), link(1, 'prev'), link(3, 'next'), link(total_pages, 'last')];
      expect(pages[1]?.link).toBe(links.join(', '));
    });
  });

  describe('finding users by phone', () => {
    scenario('returns the users with the phone in every accepted form', async () => {
      const { id, phone } = await linkNewBuyer(target());
      const local = `0${phone.slice(3)}`;
      // The last is a + that was not percent-encoded.
      const forms = [phone, local, toPersianDigits(local)].map(encodeURIComponent).concat(phone);
      for (const form of forms) {
        const found = await list(target(), `?phone=${form}`);
        expect([found.data.map((user) => user.id), found.total, found.total_pages]).toEqual([[id], 1, 1]);
      }
    });
  });

  describe('finding a user by its external id', () => {
    scenario('returns the user that has it, and refuses it for another user', async () => {
      const external_id = `order:${newPhone().slice('+98'.length)}`;
      const key = target().otherSeller.key;
      const person = await registeredPerson(target());
      const linked = await call(target(), '/v1/users', { key, body: { ...person, external_id } });
      expect([linked.status, linked.json<{ external_id: string }>().external_id]).toEqual([201, external_id]);
      const found = await list(target(), `?external_id=${external_id}`);
      expect([found.data, found.total]).toEqual([[linked.json()], 1]);
      const body = { ...(await registeredPerson(target())), external_id };
      expectProblem(await call(target(), '/v1/users', { key, body }), 'external_id_conflict');
    });
  });
};
