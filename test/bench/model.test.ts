import { playLinks } from '#bench/contention/model.ts';

describe('the model of links of one seller', () => {
  it('needs one transaction for each of links that do not meet', async () => {
    const { succeeded, transactions, seconds } = await playLinks([0, 1000, 2000], { deadlineMs: 500 });
    expect({ succeeded, transactions }).toEqual({ succeeded: 3, transactions: 3 });
    // The read and the transaction take 16 ms, give or take 30 %.
    expect(seconds).toBeGreaterThan(2.01);
    expect(seconds).toBeLessThan(2.022);
  });

  it('starts a link again that met another one, until it succeeds', async () => {
    const { succeeded, transactions } = await playLinks([0, 0, 0, 0, 0], { deadlineMs: 60_000 });
    expect(succeeded).toBe(5);
    expect(transactions).toBeGreaterThan(5);
  });

  it('needs more transactions if the count was read before another link began', async () => {
    const starts = [0, 100];
    const fresh = await playLinks(starts, { deadlineMs: 60_000 });
    const old = await playLinks(starts, { deadlineMs: 60_000, countAgeMs: 300 });
    expect([fresh.transactions, old.transactions]).toEqual([2, 3]);
    expect(Math.max(...old.timesMs)).toBeGreaterThan(Math.max(...fresh.timesMs));
  });

  it('ends a link at its deadline', async () => {
    const { links, succeeded } = await playLinks(Array(50).fill(0), { deadlineMs: 30 });
    expect(links).toBe(50);
    expect(succeeded).toBeGreaterThan(0);
    expect(succeeded).toBeLessThan(10);
  });
});
