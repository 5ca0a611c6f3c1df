import { useTable } from '#test/table/use-table.ts';
import { type Codes, codesOn, countedOf, NOW, newOwner, rejected, tooMany, withSeller } from './codes-on.ts';

const table = useTable();
let store: Codes['store'];
let send: Codes['send'];
let fail: Codes['fail'];
let record: Codes['record'];
let phoneSends: Codes['phoneSends'];

beforeAll(() => {
  ({ store, send, fail, record, phoneSends } = codesOn(table));
});

describe('undoSend', () => {
  it('restores the code, its tries and the sends of before', async () => {
    const owner = newOwner();
    await send(owner, 'old');
    await fail(owner, 2);
    const { before, code } = await send(owner, 'new', NOW + 60);
    await store.undoSend(owner, before, { ...code, isRefused: false });
    expect(await record(owner)).toMatchObject({
      sends: [NOW],
      failures: 2,
      code: { mac: 'old.mac', expiresAt: NOW + 300, tries: [expect.any(String), expect.any(String)] },
    });
    expect(await phoneSends(owner)).toEqual([NOW]);
    expect(await store.countTry(owner, NOW + 61)).toEqual(countedOf('old.mac'));
  });

  it('keeps the time of a refused send, and no time of a send that reached no provider', async () => {
    const owner = newOwner();
    const refused = await send(owner, 'one');
    await store.undoSend(owner, refused.before, { ...refused.code, isRefused: true });
    expect(await record(owner)).toMatchObject({ sends: [], lastRefusedAt: NOW });
    const notReached = await send(owner, 'two', NOW + 60);
    await store.undoSend(owner, notReached.before, { ...notReached.code, isRefused: false });
    expect(await record(owner)).toMatchObject({ sends: [], lastRefusedAt: NOW });
    expect(await phoneSends(owner)).toEqual([]);
  });

  it('leaves no code where there was none', async () => {
    const owner = newOwner();
    const { before, code } = await send(owner, 'new');
    await store.undoSend(owner, before, { ...code, isRefused: false });
    expect(await record(owner)).toEqual({
      version: 2,
      sends: [],
      lastRefusedAt: 0,
      failures: 0,
      lastFailureAt: 0,
      lockAt: 10,
    });
    expect(await phoneSends(owner)).toEqual([]);
    expect(await store.countTry(owner, NOW)).toEqual(rejected);
  });

  it('keeps the failures of tries on the new code, and counts them against the restored code', async () => {
    const owner = newOwner();
    await send(owner, 'old');
    await fail(owner, 3);
    const { before, code } = await send(owner, 'new', NOW + 60);
    await fail(owner, 2, NOW + 60);
    await store.undoSend(owner, before, { ...code, isRefused: false });
    expect((await record(owner)).failures).toBe(5);
    expect(await store.countTry(owner, NOW + 60)).toEqual(tooMany(1));
  });

  it('keeps a lock that tries on the new code led to', async () => {
    const owner = newOwner();
    await send(owner, 'old');
    await fail(owner, 5);
    const { before, code } = await send(owner, 'new', NOW + 60);
    await fail(owner, 5, NOW + 60);
    await store.undoSend(owner, before, { ...code, isRefused: false });
    expect(await store.countTry(owner, NOW + 60)).toEqual(tooMany(900));
  });

  it('changes nothing if the new code was redeemed', async () => {
    const owner = newOwner();
    await send(owner, 'old');
    const { before, code } = await send(owner, 'new', NOW + 60);
    await store.redeem(owner, 'new.mac', NOW + 60);
    await store.undoSend(owner, before, { ...code, isRefused: false });
    expect(await store.countTry(owner, NOW + 60)).toEqual(rejected);
  });

  it("removes its own send only from the count over all sellers, after other sellers' sends", async () => {
    const owner = newOwner();
    const { before, code } = await send(owner, 'one');
    await send(withSeller(owner, 'sel_b'), 'two');
    await send(withSeller(owner, 'sel_c'), 'three', NOW + 1);
    await store.undoSend(owner, before, { ...code, isRefused: false });
    expect((await store.read(owner, true)).phoneSends?.sends).toEqual([
      { at: NOW, id: 'two' },
      { at: NOW + 1, id: 'three' },
    ]);
  });
});
