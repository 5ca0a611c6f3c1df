import { PROBLEMS, Problem } from '#shared/problems.ts';
import { type Delivery, ProviderUnavailable } from '#shared/providers/unavailable.ts';
import { runInRequest } from '#shared/request-context.ts';
import { type CodeMessage, deliverCode, deliveryOf } from '#shared/sms/port.ts';
import { endless, requestUntil } from '#test/fakes/request.ts';
import { messageTo } from '#test/fakes/sms.ts';

const MESSAGE = messageTo('+989990000001', '123456', {
  locale: 'en',
  templates: { kavenegar: { en: 'kaveh-books' } },
});
const SITE = { provider: 'p', operation: 'send_code' };

/** Delivers by a provider that fails with `failure`, and returns the error. */
const errorAfter = async (failure: Error): Promise<unknown> => {
  const sms = { sendCode: () => Promise.reject(failure) };
  const [outcome] = await Promise.allSettled([deliverCode(sms, MESSAGE)]);
  return outcome.status === 'rejected' ? outcome.reason : undefined;
};

describe('deliverCode', () => {
  it('sends once and returns the name of the provider', async () => {
    const sent: CodeMessage[] = [];
    const sms = {
      sendCode: async (message: CodeMessage) => {
        sent.push(message);
        return { provider: 'p' };
      },
    };
    expect(await deliverCode(sms, MESSAGE)).toBe('p');
    expect(sent).toEqual([MESSAGE]);
  });

  it.each<[Delivery, string | undefined]>([
    ['not_reached', undefined],
    ['not_sent', undefined],
    ['possibly_sent', PROBLEMS.sms_unavailable.otherDetail],
  ])('says of a message that is %s whether it may have been sent', async (delivery, detail) => {
    const error = await errorAfter(new ProviderUnavailable(SITE, 'upstream', { delivery }));
    expect(error).toMatchObject({ code: 'sms_unavailable', texts: { detail } });
  });

  it.each<[string, Delivery, number | undefined, number]>([
    ['10 seconds after a send that reached no provider', 'not_reached', undefined, 10],
    ['the time that a circuit stays open', 'not_reached', 7, 7],
    ['the cool-down after a refused send', 'not_sent', undefined, 60],
    ['the cool-down after a refused send while the next circuit is open', 'not_sent', 7, 60],
    ['the cool-down after a send that possibly went out', 'possibly_sent', undefined, 60],
    ['the cool-down after a send that possibly went out, before the next circuit', 'possibly_sent', 7, 60],
  ])('has %s as Retry-After', async (_title, delivery, wait, retryAfterSeconds) => {
    const error = await errorAfter(
      new ProviderUnavailable(SITE, 'upstream', { delivery, retryAfterSeconds: wait }),
    );
    expect(error).toBeInstanceOf(Problem);
    expect(error).toMatchObject({ code: 'sms_unavailable', retryAfterSeconds });
  });

  it('throws an unexpected error as it is', async () => {
    const defect = new TypeError('defect');
    expect(await errorAfter(defect)).toBe(defect);
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
    const request = requestUntil(endless({ leftMs: () => 3020 }));
    const delivering = runInRequest(request, () => deliverCode(hangs, MESSAGE));
    await expect(delivering).rejects.toMatchObject({ code: 'sms_unavailable' });
  });
});

describe('deliveryOf', () => {
  it.each<Delivery>(['not_reached', 'not_sent', 'possibly_sent'])(
    'returns what the failure says: %s',
    async (delivery) => {
      const error = await errorAfter(new ProviderUnavailable(SITE, 'upstream', { delivery }));
      expect(deliveryOf(error)).toBe(delivery);
    },
  );

  it('returns possibly_sent for an error of our own code', async () => {
    expect(deliveryOf(await errorAfter(new TypeError('defect')))).toBe('possibly_sent');
  });
});
