import { afterUnsent } from '#shared/one-time-codes/rules.ts';
import { type LossyTable, losingResponses } from '#test/table/lost-responses.ts';
import { useTable } from '#test/table/use-table.ts';
import { type Codes, codesOn, countedOf, NOW, newOwner } from './codes-on.ts';

const table = useTable();
let lossy: LossyTable;
let store: Codes['store'];
let send: Codes['send'];
let record: Codes['record'];

beforeAll(() => {
  lossy = losingResponses(table);
  ({ store, send, record } = codesOn(lossy));
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
    expect(await withLostResponses(count, () => store.redeem(owner, 'one.mac', { now: NOW }))).toBe(true);
    expect(await store.redeem(owner, 'one.mac', { now: NOW })).toBe(false);
  });

  it('is one redeem of twenty at the same moment', async () => {
    const owner = newOwner();
    await send(owner, 'one');
    const results = await withLostResponses(5, () =>
      Promise.all(Array.from({ length: 20 }, () => store.redeem(owner, 'one.mac', { now: NOW }))),
    );
    expect(results.filter(Boolean)).toHaveLength(1);
  });

  it('is a try that counts twice and is compared', async () => {
    const owner = newOwner();
    await send(owner, 'one');
    expect(await withLostResponses(1, () => store.countTry(owner, NOW))).toEqual(countedOf('one.mac'));
    const { failures, code } = await record(owner);
    expect([failures, code?.tries]).toEqual([2, 2]);
  });

  it('is a send that is stored once, and decided again', async () => {
    const owner = newOwner();
    const { isStored } = await withLostResponses(1, () => send(owner, 'one'));
    expect(isStored).toBe(false);
    expect(await record(owner)).toMatchObject({ version: 1, sends: [NOW], code: { mac: 'one.mac' } });
  });

  it('is an undo that leaves no code', async () => {
    const owner = newOwner();
    await send(owner, 'old');
    const { before, code } = await send(owner, 'new', NOW + 60);
    const restored = afterUnsent(before, { now: code.now, isBounced: true });
    await withLostResponses(1, () => store.undoSend(owner, code.mac, restored));
    const { code: outstanding, sends, lastBouncedAt } = await record(owner);
    expect([outstanding, sends, lastBouncedAt]).toEqual([undefined, [NOW], NOW + 60]);
  });
});
