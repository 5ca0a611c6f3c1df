import { call } from './call.ts';
import { registeredPerson } from './people.ts';
import { itWith, type ScenarioOptions, type Target } from './target.ts';

interface Page {
  readonly data: readonly { readonly id: string }[];
  readonly page: number;
  readonly page_size: number;
  readonly total: number;
  readonly total_pages: number;
}

const list = async (target: Target, query: string) => {
  const reply = await call(target, `/v1/users${query}`, { key: target.otherSeller.key });
  expect(reply.status).toBe(200);
  return { ...reply.json<Page>(), link: reply.headers.get('link') };
};

/** At least this many users, so that there are pages to turn. */
const MIN_USERS = 5;

/** Listing users by page. It links a few for the other seller. */
export const listUsersScenarios = (options: ScenarioOptions): void => {
  const { target } = options;
  const scenario = itWith(options, 'sent messages');

  describe('listing users', () => {
    scenario('turns pages oldest first, each user on exactly one, with links to follow', async () => {
      for (let count = 0; count < MIN_USERS; count += 1) {
        const person = await registeredPerson(target());
        const linked = await call(target(), '/v1/users', { key: target().otherSeller.key, body: person });
        expect(linked.status).toBe(201);
      }
      const { total, data: newestLast } = await list(target(), '?page_size=100');
      const pages = await Promise.all(
        Array.from({ length: Math.ceil(total / 2) }, (_, index) =>
          list(target(), `?page=${index + 1}&page_size=2`),
        ),
      );
      expect(pages.flatMap(({ data }) => data)).toEqual(newestLast);
      const last = pages.length;
      const link = (to: number, rel: string) => `<?page=${to}&page_size=2>; rel="${rel}"`;
      expect(pages[0]?.link).toBe([link(1, 'first'), link(2, 'next'), link(last, 'last')].join(', '));
      expect(pages[1]?.link).toBe(
        [link(1, 'first'), link(1, 'prev'), link(3, 'next'), link(last, 'last')].join(', '),
      );
      expect(pages[last - 1]?.link).toBe(
        [link(1, 'first'), link(last - 1, 'prev'), link(last, 'last')].join(', '),
      );
    });

    scenario('answers a page past the end with no users and the way back', async () => {
      const { total, total_pages } = await list(target(), '?page_size=2');
      expect(await list(target(), '?page=9007199254740991&page_size=2')).toEqual({
        data: [],
        page: Number.MAX_SAFE_INTEGER,
        page_size: 2,
        total,
        total_pages,
        link: `<?page=1&page_size=2>; rel="first", <?page=${total_pages}&page_size=2>; rel="prev", <?page=${total_pages}&page_size=2>; rel="last"`,
      });
    });

    scenario('takes page 1 of 20 if nothing is asked for', async () => {
      expect(await list(target(), '')).toMatchObject({ page: 1, page_size: 20 });
    });
  });
};
