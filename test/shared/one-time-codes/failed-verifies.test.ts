import { callerFrom } from '#shared/api-keys/caller.ts';
import { countFailedVerify } from '#shared/one-time-codes/failed-verifies.ts';
import { callerContext } from '#test/functions/harness.ts';
import { RIGHT, seller, verifyOtpOn, WRONG } from '#test/functions/verify-otp-under-test.ts';
import { newPerson } from '#test/generated-people.ts';
import { patientLimiter } from '#test/shared/rate-limits/patient-limiter.ts';
import { interceptedTable, type SentCommand } from '#test/table/intercepted-table.ts';
import { useTable } from '#test/table/use-table.ts';

const table = useTable();
const nowMs = Date.parse('2026-11-21T08:00:00Z');

const verifyOtp = () => verifyOtpOn(table);

describe('the limit of failed verifies', () => {
  it('is rate_limit_exceeded after the failed verifies of an hour, and tries no code', async () => {
    const { phone } = newPerson();
    const { send, verify, record, clock } = verifyOtp();
    const limited = seller('sel_a', 'key_failing', { 'failed-verifies-per-hour': 2 });
    await send(phone, 'sel_a');
    const other = newPerson().phone;
    await send(other, 'sel_a');
    const replies = [
      await verify(phone, WRONG, limited),
      await verify(other, WRONG, limited),
      await verify(phone, RIGHT, limited),
    ];
    expect(replies.map(({ json }) => json.code)).toEqual([
      'code_rejected',
      'code_rejected',
      'rate_limit_exceeded',
    ]);
    expect(replies[2]?.headers.RateLimit).toBe(
      '"professional";r=997;t=60, "failed-verifies-per-hour";r=0;t=3600',
    );
    expect((await record(phone, 'sel_a')).failures).toBe(1);
    clock.advance(3600);
    await send(phone, 'sel_a');
    expect((await verify(phone, RIGHT, limited)).status).toBe(200);
  });

  it('does not count tries without an outstanding code, so a stranger cannot stop the sign-in of a shop', async () => {
    const { phone } = newPerson();
    const { send, verify, clock } = verifyOtp();
    const limited = seller('sel_a', 'key_stranger', { 'failed-verifies-per-hour': 2 });
    const [never, expired, used] = [newPerson().phone, newPerson().phone, newPerson().phone];
    await send(expired, 'sel_a');
    clock.advance(300);
    await send(used, 'sel_a');
    await verify(used, RIGHT, limited);
    await send(phone, 'sel_a');
    const replies = [];
    for (const each of [never, expired, used, never]) replies.push(await verify(each, WRONG, limited));
    expect(replies.map(({ json }) => json.code)).toEqual(Array(4).fill('code_rejected'));
    expect((await verify(phone, RIGHT, limited)).status).toBe(200);
  });

  it('never refuses the buyer app for failed verifies, and logs each one above the limit that was compared with a code', async () => {
    const { phone } = newPerson();
    const phones = [newPerson().phone, newPerson().phone, newPerson().phone];
    const { send, verify, events } = verifyOtp();
    for (const each of phones) await send(each);
    const app = {
      ...callerContext,
      keyId: 'key_app',
      limits: JSON.stringify({ 'failed-verifies-per-hour': 1 }),
    };
    for (const each of phones) expect((await verify(each, WRONG, app)).json.code).toBe('code_rejected');
    expect((await verify(newPerson().phone, WRONG, app)).json.code).toBe('code_rejected');
    await send(phone);
    expect((await verify(phone, RIGHT, app)).status).toBe(200);
    expect(events('failed_verifies_above_limit')).toEqual(
      Array(2).fill(expect.objectContaining({ key_id: 'key_app', FailedVerifiesAboveLimit: 1 })),
    );
  });
});

describe('countFailedVerify', () => {
  const caller = {
    ...callerFrom({ ...callerContext, scopes: 'users:read' }, 0),
    limits: { 'failed-verifies-per-hour': 1 },
  };

  it('sends the same write for a try that was compared and for one that was not, which adds 0', async () => {
    const sent: SentCommand['input'][] = [];
    const recorded = interceptedTable(table, ({ input }, send) => {
      sent.push(input);
      return send();
    });
    const count = (isCompared: boolean) =>
      countFailedVerify(patientLimiter(recorded), {
        caller: { ...caller, keyId: 'key_same' },
        isCompared,
        nowMs,
      });
    const problems = [await count(false), await count(true), await count(false), await count(true)];
    expect(problems.map(({ code }) => code)).toEqual([
      'code_rejected',
      'code_rejected',
      'rate_limit_exceeded',
      'rate_limit_exceeded',
    ]);
    const amounts = sent.map(
      ({ ExpressionAttributeValues: values }) => (values as { ':amount': number })[':amount'],
    );
    expect(amounts).toEqual([0, 1, 0, 1]);
    const withoutAmount = sent.map(({ ExpressionAttributeValues: values, ...input }) => ({
      ...input,
      values: { ...(values as object), ':amount': 'any' },
    }));
    expect(new Set(withoutAmount.map((input) => JSON.stringify(input))).size).toBe(1);
  });
});
