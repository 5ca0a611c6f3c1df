import { PROBLEMS, Problem } from '#shared/problems.ts';
import { type Delivery, ProviderUnavailable } from '#shared/providers/unavailable.ts';
import { type CodeMessage, deliverCode } from '#shared/sms/port.ts';
import { messageTo } from '#test/fakes/sms.ts';

const MESSAGE = messageTo('+989990000001', '123456', {
  locale: 'en',
  templates: { kavenegar: { en: 'kaveh-books' } },
});
const SITE = { provider: 'p', operation: 'send_code' };

/** Delivers by a provider that fails with `failure`. Returns the outcome and how the send was undone. */
const deliver = async (failure?: Error) => {
  const sent: object[] = [];
  const undone: string[] = [];
  const sms = {
    sendCode: async (message: CodeMessage) => {
      if (failure !== undefined) throw failure;
      sent.push(message);
      return { provider: 'p' };
    },
  };
  const undo = async (isRefused: boolean) => {
    undone.push(isRefused ? 'refused' : 'not reached');
  };
  const [outcome] = await Promise.allSettled([
    deliverCode(sms, { ...MESSAGE, deadlineMs: performance.now() + 60_000 }, undo),
  ]);
  return { sent, undone, outcome };
};

describe('deliverCode', () => {
  it('sends once, undoes nothing and returns the name of the provider', async () => {
    expect(await deliver()).toEqual({
      sent: [MESSAGE],
      undone: [],
      outcome: { status: 'fulfilled', value: 'p' },
    });
  });

  it.each<[Delivery, string | undefined]>([
    ['not_reached', undefined],
    ['not_sent', undefined],
    ['possibly_sent', PROBLEMS.sms_unavailable.otherDetail],
  ])('says of a message that is %s whether it may have been sent', async (delivery, detail) => {
    const { outcome } = await deliver(new ProviderUnavailable(SITE, 'upstream', { delivery }));
    expect(outcome).toMatchObject({ reason: { code: 'sms_unavailable', texts: { detail } } });
  });

  it.each<[string, Delivery, number | undefined, string[], number]>([
    ['undoes a send that reached no provider', 'not_reached', undefined, ['not reached'], 10],
    ['returns the time that a circuit stays open', 'not_reached', 7, ['not reached'], 7],
    ['undoes a refused send, but not its cool-down', 'not_sent', undefined, ['refused'], 60],
    ['keeps the cool-down of a refused send while the next circuit is open', 'not_sent', 7, ['refused'], 60],
    ['does not undo a send that possibly went out', 'possibly_sent', undefined, [], 60],
    ['keeps the cool-down of a possibly sent message', 'possibly_sent', 7, [], 60],
  ])('%s', async (_title, delivery, wait, undone, retryAfterSeconds) => {
    const details = { delivery, ...(wait === undefined ? {} : { retryAfterSeconds: wait }) };
    const result = await deliver(new ProviderUnavailable(SITE, 'upstream', details));
    const error = (result.outcome as PromiseRejectedResult).reason as Problem;
    expect(error).toBeInstanceOf(Problem);
    expect([error.code, result.undone, error.retryAfterSeconds]).toEqual([
      'sms_unavailable',
      undone,
      retryAfterSeconds,
    ]);
  });

  it('throws an unexpected error as it is, and undoes nothing', async () => {
    const defect = new TypeError('defect');
    expect(await deliver(defect)).toMatchObject({
      undone: [],
      outcome: { status: 'rejected', reason: defect },
    });
  });

  it('gives the provider the time to the deadline, less the time of an undo', async () => {
    const hangs = {
      sendCode: (_message: CodeMessage, signal: AbortSignal) =>
        new Promise<{ provider: string }>((_resolve, reject) => {
          signal.addEventListener('abort', () =>
            reject(new ProviderUnavailable(SITE, 'timeout', { delivery: 'possibly_sent' })),
          );
        }),
    };
    const delivering = deliverCode(
      hangs,
      { ...MESSAGE, deadlineMs: performance.now() + 3020 },
      async () => {},
    );
    await expect(delivering).rejects.toMatchObject({ code: 'sms_unavailable' });
  });
});
