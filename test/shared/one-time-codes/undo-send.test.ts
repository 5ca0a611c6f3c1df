import { useTable } from '#test/table/use-table.ts';
import { type Codes, codesOn, NOW, newOwner, rejected, tooMany } from './codes-on.ts';

const table = useTable();
let store: Codes['store'];
let send: Codes['send'];
let fail: Codes['fail'];
let record: Codes['record'];

beforeAll(() => {
  ({ store, send, fail, record } = codesOn(table));
});

describe('undoSend', () => {
  it('leaves no code outstanding, and the sends of before', async () => {
    const owner = newOwner();
    await send(owner, 'old');
    await fail(owner, 2);
    const { before, code } = await send(owner, 'new', NOW + 60);
    await store.undoSend(owner, before, { ...code, isRefused: false });
    expect(await record(owner)).toEqual({
      version: 5,
      sends: [NOW],
      lastRefusedAt: 0,
      failures: 2,
      lastFailureAt: NOW,
      lockAt: 10,
    });
    expect(await store.countTry(owner, NOW + 61)).toEqual(rejected);
  });

  it('keeps the time of a refused send, and no time of a send that reached no provider', async () => {
    const owner = newOwner();
    const refused = await send(owner, 'one');
    await store.undoSend(owner, refused.before, { ...refused.code, isRefused: true });
    expect(await record(owner)).toMatchObject({ sends: [], lastRefusedAt: NOW });
    const notReached = await send(owner, 'two', NOW + 60);
    await store.undoSend(owner, notReached.before, { ...notReached.code, isRefused: false });
    expect(await record(owner)).toMatchObject({ sends: [], lastRefusedAt: NOW });
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
    expect(await store.countTry(owner, NOW)).toEqual(rejected);
  });

  it('keeps the failures of tries on the new code', async () => {
    const owner = newOwner();
    await send(owner, 'old');
    await fail(owner, 3);
    const { before, code } = await send(owner, 'new', NOW + 60);
    await fail(owner, 2, NOW + 60);
    await store.undoSend(owner, before, { ...code, isRefused: false });
    expect(await record(owner)).toMatchObject({ failures: 5, lastFailureAt: NOW + 60 });
  });

  it('changes nothing of a later send', async () => {
    const owner = newOwner();
    const { before, code } = await send(owner, 'new');
    await send(owner, 'later', NOW + 60);
    const later = await record(owner);
    await store.undoSend(owner, before, { ...code, isRefused: true });
    expect(await record(owner)).toEqual(later);
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
});
