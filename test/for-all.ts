import { stripVTControlCharacters } from 'node:util';

/** As `it.each`, but one test: it checks every case and fails with the list of those that failed. Hooks run once, not for each case. */
export const itForAll =
  <Case extends readonly unknown[]>(cases: readonly Case[]) =>
  (title: string, check: (...values: Case) => unknown): void => {
    it(title, async () => {
      const failed: string[] = [];
      for (const values of cases) {
        try {
          await check(...values);
        } catch (error) {
          const { message } = error as Error;
          failed.push(`${String(values[0])}: ${stripVTControlCharacters(message)}`);
        }
      }
      if (failed.length > 0) throw new Error(failed.join('\n\n'));
    });
  };
