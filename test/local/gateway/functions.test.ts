import type { Context } from 'aws-lambda';
import { invoke } from '#local/gateway/functions.ts';

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
