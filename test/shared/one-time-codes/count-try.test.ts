import { useTable } from '#test/table/use-table.ts';
import { type Codes, codesOn, countedOf, NOW, newOwner, rejected, tooMany, withSeller } from './codes-on.ts';

const table = useTable();
let store: Codes['store'];
let send: Codes['send'];
let fail: Codes['fail'];
let failTen: Codes['failTen'];
let record: Codes['record'];

beforeAll(() => {
  ({ store, send, fail, failTen, record } = codesOn(table));
});

describe('countTry', () => {
  it('counts exactly five of fifty tries at once', async () => {
    const owner = newOwner();
    await send(owner, 'one');
    const results = await Promise.all(Array.from({ length: 50 }, () => store.countTry(owner, NOW)));
    expect(results.filter(({ written }) => written)).toHaveLength(5);
    expect(results.filter(({ written }) => !written)).toEqual(Array(45).fill(tooMany(60)));
    const { failures, code } = await record(owner);
    expect([failures, code?.tries]).toEqual([5, 5]);
  });

  it('makes one write for a try, with no read before it', async () => {
    const owner = newOwner();
    await send(owner, 'one');
    const commands: unknown[] = [];
    const { client } = table;
    const counting = codesOn({
      ...table,
      client: Object.assign(Object.create(client), {
        send: (command: Parameters<typeof client.send>[0]) => {
          commands.push(command.constructor.name);
          return client.send(command);
        },
      }),
    });
    await counting.store.countTry(owner, NOW);
    expect(commands).toEqual(['UpdateCommand']);
  });

  it('counts a fifth try, which can then be redeemed', async () => {
    const owner = newOwner();
    await send(owner, 'one');
    await fail(owner, 4);
    expect(await store.countTry(owner, NOW)).toEqual(countedOf('one.mac'));
    expect(await store.redeem(owner, 'one.mac', NOW)).toBe(true);
  });

  it('counts a try that makes ten failures, which can then be redeemed', async () => {
    const owner = newOwner();
    await send(owner, 'one');
    await fail(owner, 5);
    await send(owner, 'two', NOW + 60);
    await fail(owner, 4, NOW + 60);
    expect(await store.countTry(owner, NOW + 60)).toEqual(countedOf('two.mac'));
    expect(await store.redeem(owner, 'two.mac', NOW + 60)).toBe(true);
    expect((await record(owner)).failures).toBe(0);
  });

  it('checks the clock, though the item of an expired code still exists', async () => {
    const owner = newOwner();
    await send(owner, 'one');
    expect(await store.countTry(owner, NOW + 299)).toEqual(countedOf('one.mac'));
    expect(await store.countTry(owner, NOW + 300)).toEqual(rejected);
    expect((await record(owner)).code?.mac).toBe('one.mac');
  });

  it("does not count another seller's try, and rejects it", async () => {
    const owner = newOwner();
    await send(owner, 'one');
    expect(await store.countTry(withSeller(owner, 'sel_b'), NOW)).toEqual(rejected);
    expect(await record(owner)).toMatchObject({ failures: 0, code: { tries: 0 } });
  });

  it('rejects a try for a phone without a code, and stores nothing', async () => {
    const owner = newOwner();
    expect(await store.countTry(owner, NOW)).toEqual(rejected);
    expect((await record(owner)).version).toBe(0);
  });

  it('locks the phone for 15 minutes after ten failures over two codes', async () => {
    const owner = newOwner();
    await failTen(owner);
    expect(await store.countTry(owner, NOW)).toEqual(tooMany(900));
    expect(await store.countTry(owner, NOW + 899)).toEqual(tooMany(1));
    expect(await store.countTry(owner, NOW + 900)).toEqual(rejected);
  });

  it('locks the phone for one seller only', async () => {
    const owner = newOwner();
    const other = withSeller(owner, 'sel_b');
    await send(other, 'other');
    await failTen(owner);
    expect(await store.countTry(other, NOW)).toEqual(countedOf('other.mac'));
  });

  it('keeps the failures after a lock and locks for 30 minutes after ten more', async () => {
    const owner = newOwner();
    await failTen(owner);
    await failTen(owner, NOW + 900);
    expect((await record(owner)).failures).toBe(20);
    expect(await store.countTry(owner, NOW + 900)).toEqual(tooMany(1800));
  });

  it('counts exactly ten of the tries on three codes, however many come at once', async () => {
    const owner = newOwner();
    for (const mac of ['one', 'two', 'three']) {
      await send(owner, mac);
      await Promise.all(Array.from({ length: 20 }, () => store.countTry(owner, NOW)));
    }
    expect((await record(owner)).failures).toBe(10);
  });

  it('locks until an admin unlocks after 100 failures', async () => {
    const owner = newOwner();
    const DAYS = 100_000;
    for (let day = 0; day < 10; day += 1) await failTen(owner, NOW + day * DAYS);
    expect((await record(owner)).failures).toBe(100);
    await send(owner, 'late', NOW + 20 * DAYS);
    expect(await store.countTry(owner, NOW + 20 * DAYS)).toEqual(tooMany(86_400));
    expect((await record(owner)).failures).toBe(100);
  });
});
