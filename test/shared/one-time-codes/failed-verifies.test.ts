import { callerFrom } from '#shared/api-keys/caller.ts';
import { countFailedVerify } from '#shared/one-time-codes/failed-verifies.ts';
import { callerContext } from '#test/functions/harness.ts';
import { RIGHT, verifyOtpOn, WRONG } from '#test/functions/verify-otp-under-test.ts';
import { newPerson } from '#test/generated-people.ts';
import { limiterOn } from '#test/shared/rate-limits/limiter-on.ts';
import { interceptedTable, type SentCommand } from '#test/table/intercepted-table.ts';
import { useTable } from '#test/table/use-table.ts';

const table = useTable();
const nowMs = Date.parse('2026-11-21T08:00:00Z');

const verifyOtp = () => verifyOtpOn(table);

describe('the limit of failed verifies', () => {
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
      countFailedVerify(limiterOn(recorded), {
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
