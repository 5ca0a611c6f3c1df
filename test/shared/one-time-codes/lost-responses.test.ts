import { type LossyTable, losingResponses } from '#test/table/lost-responses.ts';
import { useTable } from '#test/table/use-table.ts';
import { type Codes, codesOn, countedOf, NOW, newOwner, tooMany } from './codes-on.ts';

const table = useTable();
let lossy: LossyTable;
let store: Codes['store'];
let send: Codes['send'];
let fail: Codes['fail'];
let record: Codes['record'];
let phoneSends: Codes['phoneSends'];

beforeAll(() => {
  lossy = losingResponses(table);
  ({ store, send, fail, record, phoneSends } = codesOn(lossy));
});
afterAll(() => lossy.client.destroy());

/** Runs an operation whose first `count` writes lose their responses, and proves that they did. */
const withLostResponses = async <Result>(
  count: number,
  operation: () => Promise<Result>,
): Promise<Result> => {
  const before = lossy.lost();
  lossy.loseWrites(count);
  const result = await operation();
  expect(lossy.lost() - before).toBe(count);
  return result;
};

describe('a write whose response was lost', () => {
  it.each([1, 2])('is a redeem that succeeds, after %i lost responses', async (count) => {
    const owner = newOwner();
    await send(owner, 'one');
    expect(await withLostResponses(count, () => store.redeem(owner, 'one.mac', NOW))).toBe(true);
    expect(await store.redeem(owner, 'one.mac', NOW)).toBe(false);
  });

  it('is one redeem of twenty at the same moment', async () => {
    const owner = newOwner();
    await send(owner, 'one');
    const results = await withLostResponses(5, () =>
      Promise.all(Array.from({ length: 20 }, () => store.redeem(owner, 'one.mac', NOW))),
    );
    expect(results.filter(Boolean)).toHaveLength(1);
  });

  it.each([1, 2])('is a try that is counted once, after %i lost responses', async (count) => {
    const owner = newOwner();
    await send(owner, 'one');
    expect(await withLostResponses(count, () => store.countTry(owner, NOW))).toEqual(countedOf('one.mac'));
    const { failures, code } = await record(owner);
    expect([failures, code?.tries.length]).toEqual([1, 1]);
  });

  it('is a fifth try of a code that is compared', async () => {
    const owner = newOwner();
    await send(owner, 'one');
    await fail(owner, 4);
    expect(await withLostResponses(1, () => store.countTry(owner, NOW))).toEqual(countedOf('one.mac'));
    expect(await store.countTry(owner, NOW)).toEqual(tooMany(60));
  });

  it('is a tenth failure that is compared', async () => {
    const owner = newOwner();
    await send(owner, 'one');
    await fail(owner, 5);
    await send(owner, 'two', NOW + 60);
    await fail(owner, 4, NOW + 60);
    expect(await withLostResponses(1, () => store.countTry(owner, NOW + 60))).toEqual(countedOf('two.mac'));
    expect(await store.redeem(owner, 'two.mac', NOW + 60)).toBe(true);
  });

  it('is one of fifty tries at once, of which five are counted', async () => {
    const owner = newOwner();
    await send(owner, 'one');
    const results = await withLostResponses(4, () =>
      Promise.all(Array.from({ length: 50 }, () => store.countTry(owner, NOW))),
    );
    expect(results.filter(({ written }) => written)).toHaveLength(5);
  });

  it.each([
    ['over all sellers', true],
    ['of the buyer app', false],
  ])('is a send %s that is stored once', async (_name, withPhoneSends) => {
    const owner = newOwner();
    const { isStored } = await withLostResponses(1, () => send(owner, 'one', NOW, withPhoneSends));
    expect(isStored).toBe(true);
    expect(await record(owner)).toMatchObject({ version: 1, sends: [NOW], code: { mac: 'one.mac' } });
    expect(await phoneSends(owner)).toEqual([NOW].slice(withPhoneSends ? 0 : 1));
  });

  it('is an undo that restores the code once', async () => {
    const owner = newOwner();
    await send(owner, 'old');
    await fail(owner, 2);
    const { before, code } = await send(owner, 'new', NOW + 60);
    await fail(owner, 1, NOW + 60);
    await withLostResponses(2, () => store.undoSend(owner, before, { ...code, isRefused: true }));
    const stored = await record(owner);
    expect([stored.code?.mac, stored.code?.tries.length, stored.failures]).toEqual(['old.mac', 3, 3]);
    expect(await phoneSends(owner)).toEqual([NOW]);
  });
});
