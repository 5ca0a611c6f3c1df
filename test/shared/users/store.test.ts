import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { sellerKey } from '#shared/table/keys.ts';
import { type NewLink, userStore } from '#shared/users/store.ts';
import { type EmbeddedTable, startEmbeddedTable } from '#test/table/embedded-table.ts';

let table: EmbeddedTable;
let store: ReturnType<typeof userStore>;

beforeAll(async () => {
  table = await startEmbeddedTable();
  store = userStore(table);
});
afterAll(() => table.stop());

const inTenSeconds = () => Date.now() + 10_000;

const createSeller = async (sellerId: string): Promise<void> => {
  const Item = { ...sellerKey(sellerId), user_count: 0 };
  await table.client.send(new PutCommand({ TableName: table.name, Item }));
};

const linkOf = (sellerId: string, person: string): NewLink => ({
  sellerId,
  personHashes: [`hash-of-${person}`],
  phoneHash: `phone-of-${person}`,
  birthDay: '1991-04-04',
  user: {
    id: `usr_${person}`,
    nationalIdLastFour: '0829',
    birthDate: '1370/1/15',
    phone: '+989990000000',
    displayName: person,
    createdAt: '2026-11-21T00:00:00.000Z',
  },
});

describe('link', () => {
  it('gives 50 people who are linked at once the ordinals 1 to 50, without a gap', async () => {
    await createSeller('crowd');
    const people = Array.from({ length: 50 }, (_, index) => `p${index}`);
    await Promise.all(people.map((person) => store.link(linkOf('crowd', person), 0, inTenSeconds())));
    const { users, total } = await store.listPage('crowd', 1, 100);
    expect(total).toBe(50);
    expect(users.map((user) => user.displayName).sort()).toEqual(people.sort());
    const found = await Promise.all(people.map((person) => store.findPerson('crowd', [`hash-of-${person}`])));
    expect(found.map((person) => person?.ordinal).sort((a, b) => Number(a) - Number(b))).toEqual(
      people.map((_, index) => index + 1),
    );
  });

  it('links a person once, however many ask at the same moment', async () => {
    await createSeller('twins');
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, () => store.link(linkOf('twins', 'sara'), 0, inTenSeconds())),
    );
    expect(outcomes.filter((outcome) => 'linked' in outcome)).toHaveLength(1);
    expect(outcomes.filter((outcome) => 'claimed' in outcome && outcome.claimed.ordinal === 1)).toHaveLength(
      19,
    );
    expect((await store.listPage('twins', 1, 20)).total).toBe(1);
  });

  it('lists users in the order of their times, though the clocks of those who link them differ', async () => {
    await createSeller('clocks');
    const at = (second: number, person: string): NewLink => {
      const link = linkOf('clocks', person);
      return { ...link, user: { ...link.user, createdAt: `2026-11-21T00:00:0${second}.000Z` } };
    };
    await store.link(at(5, 'ahead'), 0, inTenSeconds());
    const behind = await store.link(at(3, 'behind'), 1, inTenSeconds());
    const links = [9, 1, 8, 2, 7].map((second) => at(second, `p${second}`));
    await Promise.all(links.map((link) => store.link(link, 2, inTenSeconds())));
    const { users } = await store.listPage('clocks', 1, 20);
    const times = users.map((user) => user.createdAt);
    expect(behind).toEqual({ linked: users[1] });
    expect(times).toHaveLength(7);
    expect(times).toEqual([...times].sort());
  });

  it('finds a person who was linked under an older hash secret', async () => {
    await createSeller('rotated');
    await store.link(linkOf('rotated', 'old'), 0, inTenSeconds());
    const again = { ...linkOf('rotated', 'new'), personHashes: ['hash-of-new', 'hash-of-old'] as const };
    expect(await store.link(again, 1, inTenSeconds())).toMatchObject({ claimed: { ordinal: 1 } });
    expect(await store.countUsers('rotated')).toBe(1);
  });

  it('leaves nothing behind when the deadline passes before an ordinal is free', async () => {
    await createSeller('late');
    await expect(store.link(linkOf('late', 'sara'), 7, Date.now() - 1)).rejects.toThrow('no free ordinal');
    expect(await store.findPerson('late', ['hash-of-sara'])).toBeUndefined();
    expect(await store.listPage('late', 1, 20)).toEqual({ users: [], total: 0 });
  });
});

describe('listPage', () => {
  beforeAll(async () => {
    await createSeller('pages');
    for (let ordinal = 1; ordinal <= 25; ordinal += 1) {
      await store.link(linkOf('pages', `n${ordinal}`), ordinal - 1, inTenSeconds());
    }
  });

  it('gives the oldest links first, page by page', async () => {
    const { users, total } = await store.listPage('pages', 2, 10);
    expect(total).toBe(25);
    expect(users.map((user) => user.displayName)).toEqual(
      Array.from({ length: 10 }, (_, index) => `n${index + 11}`),
    );
  });

  it('gives a short last page and an empty one past the end', async () => {
    expect((await store.listPage('pages', 3, 10)).users).toHaveLength(5);
    expect(await store.listPage('pages', 4, 10)).toEqual({ users: [], total: 25 });
  });

  it('answers a page far past every ordinal', async () => {
    expect(await store.listPage('pages', Number.MAX_SAFE_INTEGER, 100)).toEqual({ users: [], total: 25 });
  });

  it("never shows another seller's users", async () => {
    await createSeller('stranger');
    expect(await store.listPage('stranger', 1, 100)).toEqual({ users: [], total: 0 });
  });
});
