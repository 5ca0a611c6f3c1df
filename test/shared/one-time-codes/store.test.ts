import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import fc from 'fast-check';
import { type CodeStore, codeStore } from '#shared/one-time-codes/store.ts';
import type { Table } from '#shared/table/client.ts';
import { codeKey } from '#shared/table/keys.ts';
import { type EmbeddedTable, startEmbeddedTable } from '#test/table/embedded-table.ts';

let table: EmbeddedTable;
let store: CodeStore;

beforeAll(async () => {
  table = await startEmbeddedTable();
  store = codeStore(table);
});
afterAll(() => table.stop());

const NOW = 1_800_000_000;
const REJECTED = { reason: 'rejected' };

const tooMany = (retryAfterSeconds: number) => ({ reason: 'too_many_attempts', retryAfterSeconds });

const codeOf = (mac: string, now = NOW, audience = 'sel_a') => ({
  mac,
  audience,
  expiresAt: now + 300,
  tries: 0,
});

/** Puts a code out for a phone, whatever stood there. */
const putOut = async (phone: string, mac: string, now = NOW) => {
  const seen = await store.read(phone);
  return store.replaceCode(phone, seen, { code: codeOf(mac, now), sends: [now], now });
};

/** `times` tries, none of them redeemed: as many failures as were counted. */
const fail = async (phone: string, times: number, now = NOW): Promise<void> => {
  for (let count = 0; count < times; count += 1) await store.countTry(phone, 'sel_a', now);
};

const tryAtOnce = (phone: string, times: number, now = NOW) =>
  Promise.all(Array.from({ length: times }, () => store.countTry(phone, 'sel_a', now)));

const counted = (outcomes: readonly object[]): number =>
  outcomes.filter((outcome) => 'mac' in outcome).length;

let phones = 0;

/** The digest of a phone that no other test uses. */
const newPhone = (): string => {
  phones += 1;
  return `phone-${phones}`;
};

describe('replaceCode', () => {
  it('puts a code out where there was nothing', async () => {
    const phone = newPhone();
    expect(await store.read(phone)).toBeUndefined();
    expect(await putOut(phone, 'mac')).toEqual({ code: undefined });
    expect(await store.read(phone)).toEqual({
      version: 1,
      sends: [NOW],
      failures: 0,
      lastFailureAt: 0,
      code: codeOf('mac'),
    });
  });

  it.each(['nothing', 'a code'])('lets one of two win that both saw %s', async (seenBefore) => {
    const phone = newPhone();
    await Promise.all([seenBefore].filter((what) => what === 'a code').map((mac) => putOut(phone, mac)));
    const seen = await store.read(phone);
    const outcomes = await Promise.all(
      ['one', 'two'].map((mac) =>
        store.replaceCode(phone, seen, { code: codeOf(mac), sends: [NOW], now: NOW }),
      ),
    );
    expect(outcomes.filter((outcome) => outcome === undefined)).toHaveLength(1);
    const winner = ['one', 'two'][outcomes.findIndex((outcome) => outcome !== undefined)];
    expect((await store.read(phone))?.code?.mac).toBe(winner);
  });

  it('takes a write of its own that it finds already made for done: its answer was lost on the way', async () => {
    const phone = newPhone();
    const next = { code: codeOf('mac'), sends: [NOW], now: NOW };
    await store.replaceCode(phone, undefined, next);
    expect(await store.replaceCode(phone, undefined, next)).toEqual({ code: undefined });
    expect((await store.read(phone))?.version).toBe(1);
  });

  it('makes the old code worthless and gives the new one five tries of its own', async () => {
    const phone = newPhone();
    await putOut(phone, 'old');
    await fail(phone, 5);
    await putOut(phone, 'new', NOW + 60);
    expect(await store.countTry(phone, 'sel_a', NOW + 60)).toEqual({ mac: 'new' });
    expect(await store.redeem(phone, 'old')).toBe(false);
    expect(await store.redeem(phone, 'new')).toBe(true);
  });

  it('remembers the phone for a day after the last send or try, and no longer', async () => {
    const phone = newPhone();
    const ttl = async () =>
      (await table.client.send(new GetCommand({ TableName: table.name, Key: codeKey(phone) }))).Item?.ttl;
    await putOut(phone, 'mac');
    expect(await ttl()).toBe(NOW + 24 * 3600);
    await fail(phone, 1, NOW + 10);
    expect(await ttl()).toBe(NOW + 10 + 24 * 3600);
  });
});

describe('replaceCode, to take back a send that the SMS provider refused', () => {
  /** A send that is refused after `meanwhile` happened between its read and its write. */
  const refusedSend = async (phone: string, meanwhile: () => Promise<unknown>) => {
    const seen = await store.read(phone);
    await meanwhile();
    const replaced = await store.replaceCode(phone, seen, {
      code: codeOf('new'),
      sends: [NOW, NOW + 60],
      now: NOW + 60,
    });
    const written = { sends: [], failures: 0, lastFailureAt: 0, version: (seen?.version ?? 0) + 1 };
    return store.replaceCode(phone, written, { code: replaced?.code, sends: [NOW], now: NOW + 60 });
  };

  it('restores the old code and the cool-down', async () => {
    const phone = newPhone();
    await putOut(phone, 'old');
    await refusedSend(phone, () => fail(phone, 2));
    expect(await store.read(phone)).toMatchObject({
      sends: [NOW],
      failures: 2,
      code: { mac: 'old', tries: 2 },
    });
    expect(await store.countTry(phone, 'sel_a', NOW + 60)).toEqual({ mac: 'old' });
  });

  it('leaves no code where there was none', async () => {
    const phone = newPhone();
    const seen = await store.read(phone);
    await store.replaceCode(phone, seen, { code: codeOf('new'), sends: [NOW], now: NOW });
    const written = { sends: [], failures: 0, lastFailureAt: 0, version: 1 };
    await store.replaceCode(phone, written, { code: undefined, sends: [], now: NOW });
    expect(await store.read(phone)).toEqual({ version: 2, sends: [], failures: 0, lastFailureAt: 0 });
    expect(await store.countTry(phone, 'sel_a', NOW)).toEqual(REJECTED);
  });

  it('gives no try back that was made since the old code was read', async () => {
    const phone = newPhone();
    await putOut(phone, 'old');
    await refusedSend(phone, () => fail(phone, 5));
    expect(await store.countTry(phone, 'sel_a', NOW + 60)).toMatchObject({ reason: 'too_many_attempts' });
  });

  it('does not bring a code back to life that was used since it was read', async () => {
    const phone = newPhone();
    await putOut(phone, 'old');
    await refusedSend(phone, () => store.redeem(phone, 'old'));
    expect(await store.countTry(phone, 'sel_a', NOW + 60)).toEqual(REJECTED);
  });

  it('touches nothing if yet another code has been sent', async () => {
    const phone = newPhone();
    await putOut(phone, 'first');
    await putOut(phone, 'second');
    const stale = { sends: [], failures: 0, lastFailureAt: 0, version: 1 };
    expect(await store.replaceCode(phone, stale, { code: undefined, sends: [], now: NOW })).toBeUndefined();
    expect((await store.read(phone))?.code?.mac).toBe('second');
  });
});

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
    const phone = newPhone();
    for (const mac of ['first', 'second']) {
      await putOut(phone, mac);
      await fail(phone, 5);
    }
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

  /** A phone that ten failures have locked at NOW. */
  const lockedPhone = async (): Promise<string> => {
    const phone = newPhone();
    for (const mac of ['first', 'second']) {
      await putOut(phone, mac);
      await fail(phone, 5);
    }
    return phone;
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

describe('redeem', () => {
  it('lets one of twenty use the code', async () => {
    const phone = newPhone();
    await putOut(phone, 'mac');
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => store.redeem(phone, 'mac')));
    expect(outcomes.filter(Boolean)).toHaveLength(1);
  });

  it('uses the code up and forgives the failures, but not the sends', async () => {
    const phone = newPhone();
    await putOut(phone, 'mac');
    await fail(phone, 3);
    await store.redeem(phone, 'mac');
    expect(await store.read(phone)).toMatchObject({ sends: [NOW], failures: 0 });
    expect(await store.countTry(phone, 'sel_a', NOW)).toEqual(REJECTED);
  });

  it('finds nothing to use where there is nothing, and stores nothing', async () => {
    const phone = newPhone();
    expect(await store.redeem(phone, 'mac')).toBe(false);
    expect(await store.read(phone)).toBeUndefined();
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
