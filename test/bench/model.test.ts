import { playLinks } from '#bench/contention/model.ts';

describe('the model of links of one seller', () => {
  it('needs one transaction for each of links that do not meet', async () => {
    const { succeeded, transactions, seconds } = await playLinks([0, 1000, 2000], 500);
    expect({ succeeded, transactions }).toEqual({ succeeded: 3, transactions: 3 });
    // Read, transaction and hold take 15 ms, give or take 30 %.
    expect(seconds).toBeGreaterThan(2.009);
    expect(seconds).toBeLessThan(2.021);
  });

  it('starts a link again that met another one, until it succeeds', async () => {
    const { succeeded, transactions } = await playLinks([0, 0, 0, 0, 0], 60_000);
    expect(succeeded).toBe(5);
    expect(transactions).toBeGreaterThan(5);
  });

  it('ends a link at its deadline', async () => {
    const { links, succeeded } = await playLinks(Array(50).fill(0), 30);
    expect(links).toBe(50);
    expect(succeeded).toBeGreaterThan(0);
    expect(succeeded).toBeLessThan(10);
  });
});
