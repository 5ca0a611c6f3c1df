import { redirectLog } from '#shared/log.ts';

/** Collects the log lines of a test file instead of writing them to the terminal. Restores the log's target after its last test. */
export const quietLog = (): string[] => {
  const lines: string[] = [];
  let restore: () => void;
  beforeAll(() => {
    restore = redirectLog((line) => lines.push(line));
  });
  afterAll(() => restore());
  return lines;
};
