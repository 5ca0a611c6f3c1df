import fc from 'fast-check';
import { afterUnsent, type CodeRecord, whyNotTried } from '#shared/one-time-codes/rules.ts';
import type { CodeOwner } from '#shared/one-time-codes/store.ts';
import { runsOf } from '#test/full-run.ts';
import { useTable } from '#test/table/use-table.ts';
import { type Codes, codesOn, NOW, newOwner, withSeller } from './codes-on.ts';
import { modelPhone } from './model.ts';

const table = useTable();
let codes: Codes;
type Sent = Awaited<ReturnType<Codes['send']>>;

beforeAll(() => {
  codes = codesOn(table);
});

/** What happens to a phone at one of two sellers. `nth`: one of the sends so far, from the last one on; an undo of it may come late. */
type Action = { readonly seller: number } & (
  | { readonly name: 'send' | 'tries'; readonly tries: number }
  | {
      readonly name: 'undo';
      readonly nth: number;
      readonly reason: 'bounced' | 'not reached' | 'not counted';
    }
  | { readonly name: 'redeem' | 'clear failures'; readonly nth: number }
  | { readonly name: 'wait'; readonly seconds: number }
);

const seller = fc.constantFrom(0, 0, 0, 1);
const tries = fc.integer({ min: 0, max: 7 });
const nth = fc.constantFrom(0, 0, 0, 1, 2);

const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ name: fc.constant('send' as const), seller, tries }) },
  {
    weight: 4,
    arbitrary: fc.record({
      name: fc.constant('undo' as const),
      seller,
      nth,
      reason: fc.constantFrom('bounced' as const, 'not reached' as const, 'not counted' as const),
    }),
  },
  { weight: 2, arbitrary: fc.record({ name: fc.constant('tries' as const), seller, tries }) },
  {
    weight: 1,
    arbitrary: fc.record({
      name: fc.constantFrom('redeem' as const, 'clear failures' as const),
      seller,
      nth,
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      name: fc.constant('wait' as const),
      seller,
      seconds: fc.constantFrom(-3600, 1, 59, 60, 299, 300, 600, 900, 7200, 86_400),
    }),
  },
);

/** The phone at a seller, in the store and in the model. */
const replayed = (owner: CodeOwner) => {
  const phone = modelPhone();
  const pairs: { stored: unknown; expected: unknown }[] = [];
  const sends: { readonly mac: string; readonly before: CodeRecord; readonly sent: Sent }[] = [];

  const guess = async (times: number, now: number) => {
    for (let index = 0; index < times; index += 1) {
      const result = await codes.store.countTry(owner, now);
      const refusal = whyNotTried(phone.record, now);
      pairs.push({ stored: result.written ? undefined : result.reason, expected: refusal });
      expect(phone.countTry(now)).toBe(refusal === undefined);
    }
  };

  const send = async (now: number) => {
    const mac = `send-${sends.length}.mac`;
    const before = phone.send(mac, now);
    if (before !== undefined) sends.push({ mac, before, sent: await codes.send(owner, mac, now) });
  };

  const undo = async ({ nth, reason }: Extract<Action, { name: 'undo' }>) => {
    const undone = sends.at(-1 - nth);
    if (undone === undefined) return;
    const { mac, before, sent } = undone;
    const options = { now: sent.code.now, isBounced: reason === 'bounced' };
    const restored = (record: CodeRecord) =>
      reason === 'not counted' ? record : afterUnsent(record, options);
    await codes.store.undoSend(owner, mac, restored(sent.before));
    phone.undo(restored(before), mac);
  };

  return {
    pairs,
    async run(step: Action, now: number): Promise<void> {
      if (step.name === 'undo') await undo(step);
      if (step.name === 'send') await send(now);
      if ('tries' in step) await guess(step.tries, now);
      const mac = 'nth' in step ? (sends.at(-1 - step.nth)?.mac ?? 'none.mac') : 'none.mac';
      if (step.name === 'redeem')
        pairs.push({ stored: await codes.store.redeem(owner, mac, { now }), expected: phone.redeem(mac) });
      if (step.name === 'clear failures') {
        await codes.store.clearFailures(owner, mac, now);
        phone.clearFailures(mac);
      }
    },
    /** Compares the records. */
    async compare(): Promise<void> {
      const { version: _version, ...stored } = await codes.record(owner);
      pairs.push({ stored, expected: phone.record });
    },
  };
};

/** Replays a history on the store and on the model. Returns the records of both, at both sellers, after each action. */
const replay = async (history: readonly Action[]) => {
  const owner = newOwner();
  const sellers = [replayed(owner), replayed(withSeller(owner, 'sel_b'))] as const;
  let now = NOW;
  for (const step of history) {
    if (step.name === 'wait') now += step.seconds;
    await sellers[step.seller]?.run(step, now);
    await sellers[step.seller]?.compare();
  }
  for (const { compare } of sellers) await compare();
  return sellers.flatMap(({ pairs }) => pairs);
};

describe('the store', () => {
  it('decides and stores by the rules after any history of a phone at two sellers', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(action, { minLength: 10, maxLength: 50 }), async (history) => {
        const pairs = await replay(history);
        expect(pairs.map(({ stored }) => stored)).toEqual(pairs.map(({ expected }) => expected));
      }),
      { numRuns: runsOf(20) },
    );
  });
});
