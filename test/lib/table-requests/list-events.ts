import type { FunctionCalls } from '../function-calls.ts';

/** Uses every grant of the row. */
export default async ({ statusOf }: FunctionCalls): Promise<void> => {
  expect(await statusOf('list-events')).toBe(200);
};
