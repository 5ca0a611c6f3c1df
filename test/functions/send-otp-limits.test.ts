/** The limits of a send that others share: what counts, what a refusal leaves, and what it tells of the codes of others. */
import { ProviderUnavailable } from '#shared/providers/unavailable.ts';
import { ceilingLimits } from '#shared/rate-limits/ceilings.ts';
import { keyLimit } from '#shared/rate-limits/key-limits.ts';
import type { Limit } from '#shared/rate-limits/limit.ts';
import { phoneLimit } from '#shared/rate-limits/person-limits.ts';
import type { Table } from '#shared/table/client.ts';
import { isFullRun } from '#test/full-run.ts';
import { newPerson } from '#test/generated-people.ts';
import { limiterOn } from '#test/shared/rate-limits/limiter-on.ts';
import { interceptedTable, type SentCommand } from '#test/table/intercepted-table.ts';
import { useTable } from '#test/table/use-table.ts';
import { testHashes } from './create-user-deps.ts';
import { callerContext } from './harness.ts';
import { type SendOtpOptions, sendOtpOn } from './send-otp-under-test.ts';
import { seller } from './verify-otp-under-test.ts';

const table = useTable();

let days = 0;

/** The function on a day of its own: the counts of a day are shared by all tests. A test may go on to the next day. */
const sendOtp = (options?: SendOtpOptions, onTable: Table = table) => {
  const under = sendOtpOn(onTable, options);
  days += 2;
  under.clock.advance(days * 86_400);
  return under;
};

/** A provider refuses a message, which it certainly did not send. */
const refusal = new ProviderUnavailable({ provider: 'first', operation: 'send_code' }, 'balance', {
  delivery: 'not_sent',
});

const times = (count: number) => Array.from({ length: count });

/** Whether a command writes an item whose partition key begins so. */
const writes = ({ name, input }: SentCommand, prefix: string): boolean =>
  name === 'UpdateCommand' && String((input.Key as { pk?: unknown }).pk).startsWith(prefix);

describe('the messages of a phone over all sellers', () => {
  it('are twenty in a day (UTC), then resend_too_soon until midnight, but not for the buyer app', async () => {
    const { phone } = newPerson();
    const { send, clock, sent } = sendOtp();
    for (let index = 0; index < 20; index += 1) await send(phone, seller(`sel_${index}`));
    clock.advance(3600);
    const { json, headers } = await send(phone, seller('sel_late'));
    expect([json.code, headers['Retry-After'], sent.length]).toEqual([
      'resend_too_soon',
      String(15 * 3600),
      20,
    ]);
    expect((await send(phone, callerContext)).status).toBe(202);
    clock.advance(15 * 3600);
    expect((await send(phone, seller('sel_late'))).status).toBe(202);
  });

  it('count one, in one write, when thirty sends of a key come at the same moment', async () => {
    const counts: string[] = [];
    const counting = interceptedTable(table, (command, send) => {
      if (writes(command, 'LIMIT#phone:')) counts.push(String(command.input.UpdateExpression));
      return send();
    });
    const { phone } = newPerson();
    const { send, sent } = sendOtp({}, counting);
    await Promise.all(times(30).map(() => send(phone)));
    expect([counts, sent.length]).toEqual([
      ['SET #count = if_not_exists(#count, :zero) + :amount, #ttl = :ttl'],
      1,
    ]);
  });

  it('are left to another seller while many sends of one key have not stored their code', async () => {
    const sends = isFullRun ? 100 : 25;
    const [allHeld, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let held = 0;
    const holding = interceptedTable(table, async (command, send) => {
      if (writes(command, 'CODE#') && (command.input.Key as { sk: string }).sk === 'sel_a') {
        held += 1;
        if (held === sends) allHeld.resolve();
        await release.promise;
      }
      return send();
    });
    const { phone } = newPerson();
    const { call } = sendOtp({}, holding);
    const send = (sellerId: string) =>
      call({ body: { phone }, authorizer: seller(sellerId), timeLeftMs: 60_000 });
    const burst = times(sends).map(() => send('sel_a'));
    await allHeld.promise;
    const others = await send('sel_b');
    release.resolve();
    const replies = await Promise.all(burst);
    expect(others.status).toBe(202);
    expect(replies.filter(({ status }) => status === 202)).toHaveLength(1);
  });

  it('are not told by ten sends at the same moment: with nineteen of others the responses are the same as with none', async () => {
    const responsesAfter = async (others: number) => {
      const { phone } = newPerson();
      const { send } = sendOtp();
      for (let index = 0; index < others; index += 1) await send(phone, seller(`sel_other_${index}`));
      const replies = await Promise.all(times(10).map(() => send(phone)));
      return replies.map(({ json, headers }) => JSON.stringify([json, headers['Retry-After']])).sort();
    };
    expect(await responsesAfter(19)).toEqual(await responsesAfter(0));
  });
});

describe("the seller's share and the ceiling in the SMS of a day", () => {
  it('count every send that a provider refused', async () => {
    const { send, provider } = sendOtp({ smsPerDay: 8 });
    let calls = 0;
    provider.failure = refusal;
    provider.onSend = async () => {
      calls += 1;
    };
    const callsAfter = [];
    for (const sellerId of ['sel_a', 'sel_b', 'sel_c', 'sel_d']) {
      for (let count = 0; count < 3; count += 1) await send(newPerson().phone, seller(sellerId));
      callsAfter.push(calls);
    }
    expect(callsAfter).toEqual([2, 4, 6, 6]);
  });

  it('are sms_unavailable until midnight UTC when the share is used up: nothing is stored or counted', async () => {
    const { phone } = newPerson();
    const { send, sent, record } = sendOtp({ smsPerDay: 8 });
    const limited = { ...seller('sel_a', 'key_stage'), limits: JSON.stringify({ 'sms-per-hour': 3 }) };
    for (const _ of [1, 2]) expect((await send(newPerson().phone, limited)).status).toBe(202);
    const replies = [await send(phone, limited), await send(phone, limited)];
    expect(replies.map(({ json }) => json.code)).toEqual(['sms_unavailable', 'sms_unavailable']);
    expect(replies[0]?.headers['Retry-After']).toBe(String(16 * 3600));
    expect([sent.length, (await record(phone)).version]).toEqual([2, 0]);
    expect((await send(phone, seller('sel_b'))).status).toBe(202);
  });
});

describe('a second send that a limit refuses', () => {
  const LIMITED = seller('sel_a', 'key_limited', { 'sms-per-hour': 2 });
  const CALLER = { ...LIMITED, plan: 'professional', limits: { 'sms-per-hour': 2 } } as const;

  type LimitName = 'sms-per-hour' | 'sms' | 'share-of-sms-per-day' | 'count';

  /** A phone with an outstanding code that was tried once. */
  const codeOutstanding = async (intercept?: Parameters<typeof interceptedTable>[1]) => {
    const { phone } = newPerson();
    const under = sendOtp({ smsPerDay: 40 }, intercept && interceptedTable(table, intercept));
    expect((await under.send(phone, LIMITED)).status).toBe(202);
    await under.codes.countTry(await under.ownerOf(phone), under.nowSeconds());
    under.clock.advance(60);
    const limits: readonly Limit[] = [
      keyLimit('sms-per-hour', CALLER),
      phoneLimit('sms', await testHashes.phone(phone)),
      ...ceilingLimits('sms-per-day', 40, { ...CALLER, scopes: [] }),
    ];
    return { ...under, phone, limits };
  };

  type Prepared = Awaited<ReturnType<typeof codeOutstanding>>;

  const remaining = ({ limits, clock }: Prepared) =>
    Promise.all(limits.map(async (limit) => (await limiterOn(table).increment(limit, clock(), 0)).remaining));

  const useUp = async ({ limits, clock }: Prepared, name: LimitName): Promise<void> => {
    const limit = limits.find((each) => each.name === name) as Limit;
    while ((await limiterOn(table).increment(limit, clock())).allowed);
  };

  const recordOf = async ({ record, phone }: Prepared) => ({ ...(await record(phone)), version: 0 });

  const REFUSED: readonly (readonly [LimitName, string])[] = [
    ['sms-per-hour', 'rate_limit_exceeded'],
    ['sms', 'resend_too_soon'],
    ['share-of-sms-per-day', 'sms_unavailable'],
    ['count', 'sms_unavailable'],
  ];

  it.each(REFUSED)(
    'because %s was used up when it was read leaves everything as it was',
    async (name, code) => {
      const prepared = await codeOutstanding();
      await useUp(prepared, name);
      const before = [await prepared.record(prepared.phone), await remaining(prepared)];
      expect((await prepared.send(prepared.phone, LIMITED)).json.code).toBe(code);
      expect([await prepared.record(prepared.phone), await remaining(prepared)]).toEqual(before);
    },
  );

  it.each(REFUSED)(
    'because %s was used up between its read and its count leaves the code, its tries and all counts',
    async (name, code) => {
      let afterStored: (() => Promise<void>) | undefined;
      const prepared = await codeOutstanding(async (command, send) => {
        const result = await send();
        if (writes(command, 'CODE#')) await afterStored?.();
        return result;
      });
      let leftThen: readonly number[] = [];
      afterStored = async () => {
        afterStored = undefined;
        await useUp(prepared, name);
        leftThen = await remaining(prepared);
      };
      const before = await recordOf(prepared);
      expect((await prepared.send(prepared.phone, LIMITED)).json.code).toBe(code);
      expect(before.code?.tries).toBe(1);
      expect([await recordOf(prepared), await remaining(prepared)]).toEqual([before, leftThen]);
      expect(prepared.sent).toHaveLength(1);
    },
  );

  it.each(['share-of-sms-per-day', 'count'] as const)(
    'because %s was used up between its read and its count does not count at the phone, where a lost refund would stay',
    async (name) => {
      let afterStored: (() => Promise<void>) | undefined;
      let phoneCounts = 0;
      const prepared = await codeOutstanding(async (command, send) => {
        if (writes(command, 'LIMIT#phone:')) phoneCounts += 1;
        const result = await send();
        if (writes(command, 'CODE#')) await afterStored?.();
        return result;
      });
      afterStored = async () => {
        afterStored = undefined;
        await useUp(prepared, name);
      };
      phoneCounts = 0;
      expect((await prepared.send(prepared.phone, LIMITED)).json.code).toBe('sms_unavailable');
      expect(phoneCounts).toBe(0);
    },
  );

  it('because its count could not be written is service_unavailable, and leaves the code, its tries and all counts', async () => {
    let fails = false;
    const prepared = await codeOutstanding(async (command, send) => {
      if (fails && writes(command, 'LIMIT#stage:'))
        throw Object.assign(new Error('no response'), { name: 'TimeoutError' });
      return send();
    });
    const before = [await recordOf(prepared), await remaining(prepared)];
    fails = true;
    expect((await prepared.send(prepared.phone, LIMITED)).json.code).toBe('service_unavailable');
    expect([await recordOf(prepared), await remaining(prepared)]).toEqual(before);
  });

  it('is answered with the problem of the limit although the code could not be restored, which is logged', async () => {
    let afterStored: (() => Promise<void>) | undefined;
    let failsNext = false;
    const prepared = await codeOutstanding(async (command, send) => {
      if (!writes(command, 'CODE#')) return send();
      if (failsNext) throw new Error('no undo');
      const result = await send();
      await afterStored?.();
      return result;
    });
    afterStored = async () => {
      failsNext = true;
      await useUp(prepared, 'sms');
    };
    expect((await prepared.send(prepared.phone, LIMITED)).json.code).toBe('resend_too_soon');
    expect(failuresIn(prepared.lines)).toEqual([['undo_send', 'no undo']]);
  });
});

/** The step and the message of each error that was logged and not thrown. */
const failuresIn = (lines: readonly string[]) =>
  lines
    .map((line) => JSON.parse(line))
    .filter(({ event }) => event === 'best_effort_failed')
    .map(({ step, error_message }) => [step, error_message]);

describe('what fails after the outcome of a send is certain', () => {
  /** The function on a table where a write of a code after the first one fails. */
  const failingLater = () => {
    let stored = 0;
    return sendOtp(
      {},
      interceptedTable(table, async (command, send) => {
        if (writes(command, 'CODE#')) stored += 1;
        if (stored > 1) throw new Error('the second write');
        return send();
      }),
    );
  };

  it('is logged and the response is 202, when the provider of a sent code cannot be noted', async () => {
    const { send, provider, sent, lines } = failingLater();
    provider.name = 'second';
    expect((await send(newPerson().phone)).status).toBe(202);
    expect([sent.length, failuresIn(lines)]).toEqual([1, [['set_provider', 'the second write']]]);
  });

  it('is logged and the response is that of the provider, when a refused send cannot be taken back', async () => {
    const { send, provider, lines } = failingLater();
    provider.failure = refusal;
    expect((await send(newPerson().phone)).json.code).toBe('sms_unavailable');
    expect(failuresIn(lines)).toEqual([['undo_send', 'the second write']]);
  });
});
