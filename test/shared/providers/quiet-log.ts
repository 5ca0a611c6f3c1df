import { redirectLog } from '#shared/log.ts';

/** Keeps the log's lines from the terminal of a test file, and hands them to the tests. */
export const quietLog = (): string[] => {
  const lines: string[] = [];
  let restore: () => void;
  beforeAll(() => {
    restore = redirectLog((line) => lines.push(line));
  });
  afterAll(() => restore());
  return lines;
};
