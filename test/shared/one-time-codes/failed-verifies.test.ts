import { callerContext } from '#test/functions/harness.ts';
import { RIGHT, seller, verifyOtpOn, WRONG } from '#test/functions/verify-otp-under-test.ts';
import { newPerson } from '#test/generated-people.ts';
import { useTable } from '#test/table/use-table.ts';

const table = useTable();

const verifyOtp = () => verifyOtpOn(table);

describe('the limit of failed verifies', () => {
  it('is rate_limit_exceeded after the failed verifies of an hour, and tries no code', async () => {
    const { phone } = newPerson();
    const { send, verify, record, clock } = verifyOtp();
    const limited = seller('sel_a', 'key_failing', { 'failed-verifies-per-hour': 2 });
    await send(phone, 'sel_a');
    const replies = [
      await verify(phone, WRONG, limited),
      await verify(newPerson().phone, RIGHT, limited),
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

  it('returns code_rejected to exactly the limit of failed verifies that come at once', async () => {
    const { verify } = verifyOtp();
    const limited = seller('sel_a', 'key_parallel', { 'failed-verifies-per-hour': 3 });
    const replies = await Promise.all(
      Array.from({ length: 12 }, () => verify(newPerson().phone, WRONG, limited)),
    );
    expect(replies.filter(({ json }) => json.code === 'code_rejected')).toHaveLength(3);
    expect(replies.filter(({ json }) => json.code === 'rate_limit_exceeded')).toHaveLength(9);
  });

  it('never refuses the buyer app for failed verifies, and logs each one above the limit', async () => {
    const { phone } = newPerson();
    const { send, verify, events } = verifyOtp();
    const app = {
      ...callerContext,
      keyId: 'key_app',
      limits: JSON.stringify({ 'failed-verifies-per-hour': 1 }),
    };
    for (let count = 0; count < 3; count += 1)
      expect((await verify(newPerson().phone, WRONG, app)).json.code).toBe('code_rejected');
    await send(phone);
    expect((await verify(phone, RIGHT, app)).status).toBe(200);
    expect(events('failed_verifies_above_limit')).toEqual(
      Array(2).fill(expect.objectContaining({ key_id: 'key_app', FailedVerifiesAboveLimit: 1 })),
    );
  });
});
