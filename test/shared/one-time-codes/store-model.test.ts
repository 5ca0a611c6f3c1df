import fc from 'fast-check';
import { whyNotTried } from '#shared/one-time-codes/rules.ts';
import { useTable } from '#test/table/use-table.ts';
import { type Codes, codesOn, NOW, newOwner } from './codes-on.ts';
import { modelPhone } from './model.ts';

const table = useTable();
let codes: Codes;

beforeAll(() => {
  codes = codesOn(table);
});

/** What happens to a phone. A `refused send` is undone after `tries` guesses on its code, and so is a `send without a provider`. */
type Action =
  | { readonly name: 'send' | 'refused send' | 'send without a provider'; readonly tries: number }
  | { readonly name: 'tries'; readonly tries: number }
  | { readonly name: 'redeem'; readonly isOld: boolean }
  | { readonly name: 'wait'; readonly seconds: number };

const tries = fc.integer({ min: 0, max: 7 });

const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ name: fc.constant('send' as const), tries }) },
  { weight: 2, arbitrary: fc.record({ name: fc.constant('refused send' as const), tries }) },
  { weight: 2, arbitrary: fc.record({ name: fc.constant('send without a provider' as const), tries }) },
  { weight: 2, arbitrary: fc.record({ name: fc.constant('tries' as const), tries }) },
  { weight: 1, arbitrary: fc.record({ name: fc.constant('redeem' as const), isOld: fc.boolean() }) },
  {
    weight: 6,
    arbitrary: fc.record({
      name: fc.constant('wait' as const),
      seconds: fc.constantFrom(-3600, 1, 59, 60, 299, 300, 600, 900, 7200, 86_400),
    }),
  },
);

/** Replays a history on the store and on the model. Returns the records of both after each action. */
const replay = async (history: readonly Action[]) => {
  const owner = newOwner();
  const phone = modelPhone();
  const pairs: { stored: unknown; expected: unknown }[] = [];
  let now = NOW;
  let count = 0;

  const guess = async (times: number) => {
    for (let index = 0; index < times; index += 1) {
      const result = await codes.store.countTry(owner, now);
      const refusal = whyNotTried(phone.record, now);
      pairs.push({ stored: result.written ? undefined : result.reason, expected: refusal });
      expect(phone.countTry(now)).toBe(refusal === undefined);
    }
  };

  const send = async ({ name, tries: guesses }: Extract<Action, { tries: number }>) => {
    count += 1;
    const mac = `send-${count}.mac`;
    const before = phone.send(mac, now);
    if (before === undefined) return;
    const sent = await codes.send(owner, mac, now);
    await guess(guesses);
    if (name === 'send') return;
    const isBounced = name === 'refused send';
    await codes.store.undoSend(owner, sent.before, { ...sent.code, isBounced });
    phone.undo(before, mac, isBounced ? now : undefined);
  };

  const run = async (step: Action) => {
    if (step.name === 'wait') now += step.seconds;
    if (step.name === 'tries') await guess(step.tries);
    else if ('tries' in step) await send(step);
    if (step.name === 'redeem') {
      const mac = step.isOld ? `send-${count - 1}.mac` : (phone.record.code?.mac ?? 'none.mac');
      pairs.push({ stored: await codes.store.redeem(owner, mac, { now: now }), expected: phone.redeem(mac) });
    }
    const { version: _version, ...stored } = await codes.record(owner);
    pairs.push({ stored, expected: phone.record });
  };

  for (const step of history) await run(step);
  return pairs;
};

describe('the store', () => {
  it('decides and stores by the rules after any history of a phone', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(action, { minLength: 10, maxLength: 40 }), async (history) => {
        const pairs = await replay(history);
        expect(pairs.map(({ stored }) => stored)).toEqual(pairs.map(({ expected }) => expected));
      }),
      { numRuns: 20 },
    );
  });
});
