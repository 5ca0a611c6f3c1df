import { type Consumed, consumeAll, consumed } from '#shared/rate-limits/consumed.ts';

/** Counts that record what happens, by name; one of them may throw. */
const counts = (throwing?: string) => {
  const events: string[] = [];
  const count = (name: string) => async (): Promise<Consumed> => {
    if (name === throwing) throw new Error(`${name} is used up`);
    events.push(`count ${name}`);
    return consumed(async () => events.push(`refund ${name}`));
  };
  return { events, count };
};

describe('consumed', () => {
  it('is refunded once, however often and at how many places refund is called', async () => {
    const { events, count } = counts();
    const one = await count('a')();
    await Promise.all([one.refund(), one.refund()]);
    await one.refund();
    expect(events).toEqual(['count a', 'refund a']);
  });

  it('rejects if the refund fails, and does not try it again', async () => {
    let tries = 0;
    const one = consumed(() => {
      tries += 1;
      return Promise.reject(new Error('no response'));
    });
    await expect(one.refund()).rejects.toThrow('no response');
    await expect(one.refund()).resolves.toBeUndefined();
    expect(tries).toBe(1);
  });

  it('needs no refund if nothing was counted', async () => {
    await expect(consumed().refund()).resolves.toBeUndefined();
  });
});

describe('consumeAll', () => {
  it('counts one after the other, in the given order', async () => {
    const { events, count } = counts();
    const first = async () => {
      await new Promise(setImmediate);
      return count('a')();
    };
    await consumeAll(first, count('b'));
    expect(events).toEqual(['count a', 'count b']);
  });

  it('refunds all of them together, once', async () => {
    const { events, count } = counts();
    const all = await consumeAll(count('a'), count('b'));
    await all.refund();
    await all.refund();
    expect(events).toEqual(['count a', 'count b', 'refund a', 'refund b']);
  });

  it('refunds those before one that throws, throws its error and counts none after it', async () => {
    const { events, count } = counts('c');
    await expect(consumeAll(count('a'), count('b'), count('c'), count('d'))).rejects.toThrow('c is used up');
    expect(events).toEqual(['count a', 'count b', 'refund a', 'refund b']);
  });
});
