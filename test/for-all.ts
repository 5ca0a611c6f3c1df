import { stripVTControlCharacters } from 'node:util';

const oneTest =
  (cases: readonly unknown[]) =>
  (title: string, check: (...values: readonly unknown[]) => unknown): void => {
    it(title, async () => {
      const failed: string[] = [];
      for (const one of cases) {
        const values: readonly unknown[] = Array.isArray(one) ? one : [one];
        try {
          await check(...values);
        } catch (error) {
          const name = values.filter((value) => !['object', 'function'].includes(typeof value)).join(', ');
          failed.push(`${name}: ${stripVTControlCharacters((error as Error).message)}`);
        }
      }
      if (failed.length > 0) throw new Error(failed.join('\n\n'));
    });
  };

/** As `it.each`, but one test: it checks every case and fails with the list of those that failed. Hooks run once, not for each case. */
export const itForAll = oneTest as unknown as jest.Each;
