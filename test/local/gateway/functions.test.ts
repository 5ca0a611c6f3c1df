import type { Context } from 'aws-lambda';
import { atMost, invoke } from '#local/gateway/functions.ts';

/** A work that ends when a test says so. */
const openWork = () => {
  const end = Promise.withResolvers<void>();
  const started = Promise.withResolvers<void>();
  const run = async () => {
    started.resolve();
    await end.promise;
  };
  return { run, started: started.promise, end: end.resolve, fail: end.reject };
};

describe('atMost', () => {
  it('starts the next work when one ends, in the order in which they came', async () => {
    const run = atMost(2);
    const order: string[] = [];
    const [first, second] = [openWork(), openWork()];
    const results = [
      run(first.run),
      run(second.run),
      run(async () => order.push('third')),
      run(async () => order.push('fourth')),
    ];
    await Promise.all([first.started, second.started]);
    expect(order).toEqual([]);
    second.end();
    await Promise.all(results.slice(1));
    expect(order).toEqual(['third', 'fourth']);
    first.end();
    await results[0];
  });

  it('starts the next work when one fails', async () => {
    const run = atMost(1);
    const first = openWork();
    const [failed, next] = [run(first.run), run(async () => 'done')];
    first.fail(new Error('broken'));
    await expect(failed).rejects.toThrow('broken');
    expect(await next).toBe('done');
  });
});

describe('invoke', () => {
  it('rejects after the time of the row', async () => {
    const never = () => new Promise<never>(() => {});
    await expect(invoke({ name: 'slow', timeoutSeconds: 0.05 }, never, {})).rejects.toThrow('slow timed out');
  });

  it('passes the remaining time to the function', async () => {
    const remaining = async (_event: object, context: Context) => context.getRemainingTimeInMillis();
    const left = await invoke({ name: 'fast', timeoutSeconds: 0.05 }, remaining, {});
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThanOrEqual(50);
  });
});
