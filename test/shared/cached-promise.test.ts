import { cachedPromise } from '#shared/cached-promise.ts';

describe('cachedPromise', () => {
  it('loads once for calls at the same time and for later ones', async () => {
    let loads = 0;
    const get = cachedPromise(async () => {
      loads += 1;
      return loads;
    });
    expect(await Promise.all([get(), get()])).toEqual([1, 1]);
    expect(await get()).toBe(1);
  });

  it('loads again after a rejected load', async () => {
    const results = [Promise.reject(new Error('down')), Promise.resolve('up')];
    const get = cachedPromise(() => results.shift() as Promise<string>);
    await expect(get()).rejects.toThrow('down');
    expect(await get()).toBe('up');
  });
});
