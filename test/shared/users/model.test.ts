import fc from 'fast-check';
import type { NewLink } from '#shared/users/link-user.ts';
import type { User } from '#shared/users/schema.ts';
import { useTable } from '#test/table/use-table.ts';
import { createSeller, inAnHour, linkOf } from './linking.ts';
import { type UserStore, userStore } from './user-store.ts';

const table = useTable();
let store: UserStore;

beforeAll(() => {
  store = userStore(table);
});

const PEOPLE = ['sara', 'ali', 'mina', 'reza'];
const PHONES = ['phone-1', 'phone-2', 'phone-3'];
const PAGE_SIZE = 2;

type Operation =
  | { readonly kind: 'link'; readonly seller: number; readonly person: string; readonly phone: string }
  | { readonly kind: 'remove'; readonly seller: number; readonly nth: number }
  | { readonly kind: 'rotate' };

const sellers = fc.constantFrom(0, 1);

const operations: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('link' as const),
      seller: sellers,
      person: fc.constantFrom(...PEOPLE),
      phone: fc.constantFrom(...PHONES),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('remove' as const), seller: sellers, nth: fc.nat(9) }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'rotate' as const }) },
);

interface ModelUser {
  readonly user: User;
  readonly person: string;
  readonly phone: string;
  isRemoved: boolean;
}

/** What a seller's users must be: every user that was ever linked, in the order of the links. */
interface ModelSeller {
  readonly sellerId: string;
  readonly users: ModelUser[];
}

/** The hashes of a text after some rotations of the hash secret: the current one first. */
const hashesOf = (text: string, rotations: number): [string, ...string[]] => [
  `${text}-under-${rotations}`,
  ...Array.from({ length: rotations }, (_, older) => `${text}-under-${rotations - 1 - older}`),
];

const link = async (seller: ModelSeller, person: string, phone: string, rotations: number): Promise<void> => {
  const newLink: NewLink = {
    ...linkOf(seller.sellerId, person, phone),
    personHashes: hashesOf(person, rotations),
    phoneHashes: hashesOf(phone, rotations),
  };
  const result = await store.link(newLink, inAnHour());
  const existing = seller.users.find((user) => user.person === person && !user.isRemoved);
  expect(result.written).toBe(existing === undefined);
  if (result.written) seller.users.push({ user: result.value, person, phone, isRemoved: false });
  else expect(result.reason?.userId).toBe(existing?.user.id);
};

const remove = async (seller: ModelSeller, nth: number): Promise<void> => {
  const target = seller.users[nth % Math.max(1, seller.users.length)];
  if (target === undefined) return;
  const result = await store.removeUser(seller.sellerId, target.user.id, {
    removedAt: new Date().toISOString(),
    deadlineMs: inAnHour(),
  });
  expect(result).toBe(target.isRemoved ? 'already_removed' : 'removed');
  target.isRemoved = true;
};

const expectPages = async ({ sellerId, users }: ModelSeller): Promise<void> => {
  const totalPages = Math.ceil(users.length / PAGE_SIZE);
  const total = users.filter(({ isRemoved }) => !isRemoved).length;
  const numbers = Array.from({ length: totalPages + 1 }, (_, index) => index + 1);
  const pages = await Promise.all(numbers.map((page) => store.listPage(sellerId, page, PAGE_SIZE)));
  expect(pages).toEqual(
    numbers.map((page) => ({
      users: users
        .slice((page - 1) * PAGE_SIZE, page * PAGE_SIZE)
        .filter(({ isRemoved }) => !isRemoved)
        .map(({ user }) => user),
      total,
      totalPages,
    })),
  );
};

const expectIds = async (seller: ModelSeller, other: ModelSeller): Promise<void> => {
  const ids = seller.users.map(({ user }) => user.id);
  expect(await Promise.all(ids.map((id) => store.getUser(seller.sellerId, id)))).toEqual(
    seller.users.map(({ user, isRemoved }) => (isRemoved ? undefined : user)),
  );
  expect(await Promise.all(ids.map((id) => store.getUser(other.sellerId, id)))).toEqual(
    ids.map(() => undefined),
  );
};

const expectPhones = async ({ sellerId, users }: ModelSeller, rotations: number): Promise<void> => {
  const found = await Promise.all(
    PHONES.map((phone) =>
      store.findByPhone(sellerId, hashesOf(phone, rotations), { page: 1, pageSize: 100 }),
    ),
  );
  expect(found.map((page) => page.users)).toEqual(
    PHONES.map((phone) =>
      users.filter((user) => user.phone === phone && !user.isRemoved).map(({ user }) => user),
    ),
  );
};

describe('the user store', () => {
  let runs = 0;

  it('agrees with a plain list after each link, removal and rotation: pages, totals, ids and phones', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(operations, { minLength: 8, maxLength: 20 }), async (steps) => {
        runs += 1;
        const both = [0, 1].map((index): ModelSeller => ({ sellerId: `sel_${runs}_${index}`, users: [] }));
        await Promise.all(both.map(({ sellerId }) => createSeller(table, sellerId, {})));
        const [first, second] = both as [ModelSeller, ModelSeller];
        let rotations = 0;
        for (const step of steps) {
          if (step.kind === 'rotate') rotations += 1;
          if (step.kind === 'link')
            await link(both[step.seller] as ModelSeller, step.person, step.phone, rotations);
          if (step.kind === 'remove') await remove(both[step.seller] as ModelSeller, step.nth);
          await Promise.all([
            ...both.map(expectPages),
            ...both.map((seller) => expectPhones(seller, rotations)),
            expectIds(first, second),
            expectIds(second, first),
          ]);
        }
      }),
      { numRuns: 10 },
    );
  });
});
