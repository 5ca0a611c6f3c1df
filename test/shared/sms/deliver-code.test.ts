import { Problem } from '#shared/problems.ts';
import { unavailable } from '#shared/providers/unavailable.ts';
import { deliverCode } from '#shared/sms/deliver-code.ts';
import { fakeSmsSender } from '#test/fakes/sms.ts';

const MESSAGE = { phone: '+989990000001', code: '123456' };
const SITE = { provider: 'p', operation: 'send_code' };

/** Delivers by a provider that fails so; tells whether the send was undone. */
const deliver = async (failure?: Error) => {
  const sms = fakeSmsSender(() => failure);
  let undone = 0;
  const error = await deliverCode(sms, MESSAGE, Date.now() + 60_000, async () => {
    undone += 1;
  }).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return { sent: sms.sent, undone, error: error as Problem };
};

it('sends once and undoes nothing', async () => {
  expect(await deliver()).toEqual({ sent: [MESSAGE], undone: 0, error: undefined });
});

it.each([
  ['undoes the send that surely did not go out', true, undefined, 1, 10],
  ['says how long a circuit stays open', true, 7, 1, 7],
  ['leaves a send that may have gone out as it is', false, undefined, 0, 60],
  ['does not let a circuit shorten the cool-down of what may have gone out', false, 7, 0, 60],
])('%s', async (_what, refused, wait, undone, retryAfterSeconds) => {
  const details = wait === undefined ? { refused } : { refused, retryAfterSeconds: wait };
  const result = await deliver(unavailable(SITE, 'upstream', details));
  expect(result.error).toBeInstanceOf(Problem);
  expect([result.error.code, result.undone, result.error.retryAfterSeconds]).toEqual([
    'sms_unavailable',
    undone,
    retryAfterSeconds,
  ]);
});

it('hands an error of ours on as it is, and undoes nothing', async () => {
  const bug = new TypeError('ours');
  expect(await deliver(bug)).toMatchObject({ error: bug, undone: 0 });
});

it('gives the provider no more time than the request has, less what undoing needs', async () => {
  const hangs = {
    sendCode: (_phone: string, _code: string, signal: AbortSignal) =>
      new Promise<void>((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(unavailable(SITE, 'timeout', { refused: false })));
      }),
  };
  const delivering = deliverCode(hangs, MESSAGE, Date.now() + 3020, async () => {});
  await expect(delivering).rejects.toMatchObject({ code: 'sms_unavailable' });
});
