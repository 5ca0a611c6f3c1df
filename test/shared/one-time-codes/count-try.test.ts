import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import fc from 'fast-check';
import { codeStore } from '#shared/one-time-codes/store.ts';
import type { Table } from '#shared/table/client.ts';
import { type EmbeddedTable, startEmbeddedTable } from '#test/table/embedded-table.ts';
import { type Codes, codesOn, NOW, newPhone, REJECTED, tooMany } from './codes-on.ts';

let table: EmbeddedTable;
let store: Codes['store'];
let putOut: Codes['putOut'];
let fail: Codes['fail'];
let lockedPhone: Codes['lockedPhone'];

beforeAll(async () => {
  table = await startEmbeddedTable();
  ({ store, putOut, fail, lockedPhone } = codesOn(table));
});
afterAll(() => table.stop());

const tryAtOnce = (phone: string, times: number, now = NOW) =>
  Promise.all(Array.from({ length: times }, () => store.countTry(phone, 'sel_a', now)));

const counted = (outcomes: readonly object[]): number =>
  outcomes.filter((outcome) => 'mac' in outcome).length;

describe('countTry', () => {
  it('counts exactly five of fifty tries at once', async () => {
    const phone = newPhone();
    await putOut(phone, 'mac');
    const outcomes = await tryAtOnce(phone, 50);
    expect(counted(outcomes)).toBe(5);
    expect(outcomes.filter((outcome) => 'reason' in outcome)).toEqual(Array(45).fill(tooMany(60)));
    expect(await store.read(phone)).toMatchObject({ failures: 5, code: { tries: 5 } });
  });

  it('gives the right code its chance on the fifth try', async () => {
    const phone = newPhone();
    await putOut(phone, 'mac');
    await fail(phone, 4);
    expect(await store.countTry(phone, 'sel_a', NOW)).toEqual({ mac: 'mac' });
    expect(await store.redeem(phone, 'mac')).toBe(true);
  });

  it('judges by the clock, though the item of an expired code is still there', async () => {
    const phone = newPhone();
    await putOut(phone, 'mac');
    expect(await store.countTry(phone, 'sel_a', NOW + 299)).toEqual({ mac: 'mac' });
    expect(await store.countTry(phone, 'sel_a', NOW + 300)).toEqual(REJECTED);
    expect((await store.read(phone))?.code?.mac).toBe('mac');
  });

  it("rejects another seller's try, and does not count it against the phone", async () => {
    const phone = newPhone();
    await putOut(phone, 'mac');
    expect(await store.countTry(phone, 'sel_b', NOW)).toEqual(REJECTED);
    expect(await store.read(phone)).toMatchObject({ failures: 0, code: { tries: 0 } });
  });

  it('rejects a try for a phone that nobody ever asked a code for, and stores nothing', async () => {
    const phone = newPhone();
    expect(await store.countTry(phone, 'sel_a', NOW)).toEqual(REJECTED);
    expect(await store.read(phone)).toBeUndefined();
  });

  it('locks the phone for 15 minutes after ten failures over two codes; a third code does not help', async () => {
    const phone = await lockedPhone();
    await putOut(phone, 'third');
    expect(await store.countTry(phone, 'sel_a', NOW)).toEqual(tooMany(900));
    expect(await store.countTry(phone, 'sel_a', NOW + 299)).toEqual(tooMany(601));
    expect((await store.read(phone))?.code?.tries).toBe(0);
  });

  it('begins again at one failure when the lock has elapsed, and not a second before', async () => {
    const phone = await lockedPhone();
    await putOut(phone, 'third', NOW + 890);
    expect(await store.countTry(phone, 'sel_a', NOW + 899)).toEqual(tooMany(1));
    expect(await store.countTry(phone, 'sel_a', NOW + 900)).toEqual({ mac: 'third' });
    expect(await store.read(phone)).toMatchObject({
      failures: 1,
      lastFailureAt: NOW + 900,
      code: { tries: 1 },
    });
  });

  it('counts exactly five of fifty tries at once at the end of a lock, too', async () => {
    const phone = await lockedPhone();
    await putOut(phone, 'third', NOW + 890);
    expect(counted(await tryAtOnce(phone, 50, NOW + 900))).toBe(5);
    expect(await store.read(phone)).toMatchObject({ failures: 5, code: { tries: 5 } });
  });

  it('begins again once, though five tries at the same moment all find the lock elapsed', async () => {
    const phone = await lockedPhone();
    await putOut(phone, 'third', NOW + 890);
    const inStep = codeStore(answeringTogether(5));
    await Promise.all(Array.from({ length: 5 }, () => inStep.countTry(phone, 'sel_a', NOW + 900)));
    expect(await store.read(phone)).toMatchObject({ failures: 5, code: { tries: 5 } });
  });

  /** The table, which keeps its first answers back until it has `count` of them: so many callers have then seen the same. */
  const answeringTogether = (count: number): Table => {
    const { promise: complete, resolve } = Promise.withResolvers<void>();
    let answers = 0;
    const send = async (command: Parameters<Table['client']['send']>[0]) => {
      const [answer] = await Promise.allSettled([table.client.send(command)]);
      answers += 1;
      [resolve].filter(() => answers === count).map((open) => open());
      await complete;
      return answer.status === 'fulfilled' ? answer.value : Promise.reject(answer.reason);
    };
    return { client: { send } as unknown as Table['client'], name: table.name };
  };
});

describe('countTry, on a table that refuses for ever what the rules allow', () => {
  it('gives up after three rounds and sends the caller off for a second', async () => {
    let rounds = 0;
    const Item = marshall({
      mac: 'mac',
      audience: 'sel_a',
      code_expires_at: NOW + 300,
      tries: 0,
      version: 1,
    });
    const send = async () => {
      rounds += 1;
      throw new ConditionalCheckFailedException({ message: 'refused', $metadata: {}, Item });
    };
    const stubborn = codeStore({ client: { send } as unknown as Table['client'], name: 'test' });
    expect(await stubborn.countTry(newPhone(), 'sel_a', NOW)).toEqual(tooMany(1));
    expect(rounds).toBe(3);
  });
});

describe('any history of a phone', () => {
  const step = fc.oneof(
    { weight: 2, arbitrary: fc.constant('send' as const) },
    { weight: 7, arbitrary: fc.constant('wrong' as const) },
    { weight: 1, arbitrary: fc.constant('right' as const) },
    { weight: 1, arbitrary: fc.constant('wait' as const) },
  );

  /** Replays what happens to a phone; gives its failures in a row, each run ended by a right code or by the 15 minutes of a lock. */
  const failuresInARow = async (
    history: readonly ('send' | 'wrong' | 'right' | 'wait')[],
  ): Promise<number[]> => {
    const phone = newPhone();
    const runs = [0];
    let now = NOW;
    const tried = async () => 'mac' in (await store.countTry(phone, 'sel_a', now));
    const steps = {
      send: () => putOut(phone, `mac-${now}`, now),
      wrong: async () => runs.push((runs.pop() ?? 0) + Number(await tried())),
      right: async () =>
        (await tried()) && (await store.redeem(phone, `mac-${now}`)) ? runs.push(0) : undefined,
      wait: async () => {
        now += 900;
        runs.push(...(runs.at(-1) === 10 ? [0] : []));
      },
    };
    for (const name of history) await steps[name]();
    return runs;
  };

  it('has never more than ten failures in a row without a lock', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 60 }), async (history) => {
        expect(Math.max(...(await failuresInARow(history)))).toBeLessThanOrEqual(10);
      }),
      { numRuns: 40 },
    );
  });
});
